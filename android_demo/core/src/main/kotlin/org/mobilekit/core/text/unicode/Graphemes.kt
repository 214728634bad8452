package org.mobilekit.core.text.unicode

/** Where extended grapheme clusters end (Unicode Standard Annex 29, of the version that the reference library has). */
internal object Graphemes {
    private const val RETURN = 0x0D
    private const val FEED = 0x0A
    private const val JOINER = 0x200D
    private const val SYLLABLES_BEGIN = 0xAC00
    private const val SYLLABLES_END = 0xD7A4
    private const val TRAILING = 28
    private const val ASCII_END = 0x80
    private val REGIONAL = 0x1F1E6..0x1F1FF

    /** The end of the cluster that begins at [start] of the first [size] of [points]. */
    fun end(
        points: IntArray,
        size: Int,
        start: Int,
    ): Int {
        val state = State(points[start])
        var at = start + 1
        while (at < size && state.joins(points[at])) at++
        return at
    }

    private fun kind(point: Int): Int {
        if (point in SYLLABLES_BEGIN until SYLLABLES_END) {
            return if ((point - SYLLABLES_BEGIN) % TRAILING == 0) Unicode.GRAPHEME_V else Unicode.GRAPHEME_T
        }
        return Unicode.flags(point)
    }

    /** What the rules look back at: the last character, and what came before it in the cluster. */
    private class State(
        private var last: Int,
    ) {
        private var regional = if (last in REGIONAL) 1 else 0
        private var pictograph = Unicode.has(last, Unicode.PICTOGRAPHIC)
        private var consonant = Unicode.has(last, Unicode.CONJUNCT_CONSONANT)
        private var linked = false

        fun joins(point: Int): Boolean {
            if (!isOneWith(point)) return false
            val flags = Unicode.flags(point)
            regional = if (point in REGIONAL) regional + 1 else 0
            pictograph = flags and Unicode.PICTOGRAPHIC != 0 ||
                (pictograph && (point == JOINER || flags and Unicode.GRAPHEME_EXTEND != 0) && last != JOINER)
            if (flags and Unicode.CONJUNCT_CONSONANT != 0) {
                consonant = true
                linked = false
            } else if (flags and Unicode.CONJUNCT_LINKER != 0) {
                linked = consonant
            } else if (flags and Unicode.CONJUNCT_EXTEND == 0) {
                consonant = false
            }
            last = point
            return true
        }

        private fun isOneWith(point: Int): Boolean {
            if (last == RETURN) return point == FEED
            if (last < ASCII_END && point < ASCII_END) return false
            val before = kind(last)
            val after = kind(point)
            return when {
                (before or after) and Unicode.GRAPHEME_CONTROL != 0 -> false
                isSyllable(before, after, point) -> true
                after and (Unicode.GRAPHEME_EXTEND or Unicode.GRAPHEME_SPACING) != 0 || point == JOINER -> true
                before and Unicode.GRAPHEME_PREPEND != 0 -> true
                consonant && linked && after and Unicode.CONJUNCT_CONSONANT != 0 -> true
                last == JOINER && pictograph && after and Unicode.PICTOGRAPHIC != 0 -> true
                else -> point in REGIONAL && regional % 2 == 1
            }
        }

        private fun isSyllable(
            before: Int,
            after: Int,
            point: Int,
        ): Boolean {
            val whole = point in SYLLABLES_BEGIN until SYLLABLES_END
            if (before and Unicode.GRAPHEME_L != 0) {
                return whole || after and (Unicode.GRAPHEME_L or Unicode.GRAPHEME_V) != 0
            }
            if (whole) return false
            if (before and Unicode.GRAPHEME_V != 0) return after and (Unicode.GRAPHEME_V or Unicode.GRAPHEME_T) != 0
            return before and Unicode.GRAPHEME_T != 0 && after and Unicode.GRAPHEME_T != 0
        }
    }
}
