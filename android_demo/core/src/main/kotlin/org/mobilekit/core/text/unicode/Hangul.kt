package org.mobilekit.core.text.unicode

/** Hangul syllables and their letters: the rule of section 3.12 of the Unicode Standard. */
internal object Hangul {
    private const val SYLLABLE = 0xAC00
    private const val LEADING = 0x1100
    private const val VOWEL = 0x1161
    private const val TRAILING = 0x11A7
    private const val LEADINGS = 19
    private const val VOWELS = 21
    private const val TRAILINGS = 28
    private const val SYLLABLES = LEADINGS * VOWELS * TRAILINGS

    /** The two or three letters of a syllable, null for anything else. */
    fun decompose(point: Int): IntArray? {
        val index = point - SYLLABLE
        if (index !in 0 until SYLLABLES) return null
        val leading = LEADING + index / (VOWELS * TRAILINGS)
        val vowel = VOWEL + index % (VOWELS * TRAILINGS) / TRAILINGS
        val trailing = index % TRAILINGS
        return if (trailing == 0) intArrayOf(leading, vowel) else intArrayOf(leading, vowel, TRAILING + trailing)
    }

    /** The syllable of two letters, or of a syllable and a last letter; -1 for anything else. */
    fun compose(
        first: Int,
        second: Int,
    ): Int {
        val leading = first - LEADING
        val vowel = second - VOWEL
        if (leading in 0 until LEADINGS && vowel in 0 until VOWELS) {
            return SYLLABLE + (leading * VOWELS + vowel) * TRAILINGS
        }
        val syllable = first - SYLLABLE
        val trailing = second - TRAILING
        val open = syllable in 0 until SYLLABLES && syllable % TRAILINGS == 0
        return if (open && trailing in 1 until TRAILINGS) first + trailing else -1
    }
}
