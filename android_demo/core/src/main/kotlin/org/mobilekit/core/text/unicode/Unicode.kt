package org.mobilekit.core.text.unicode

/**
 * What the reference `tokenizers` library knows of characters, read from `unicode.txt` beside this class.
 *
 * The library has tables of its own, of several Unicode versions, and Android's differ by its version; so neither
 * [Character] nor `java.text.Normalizer` is used. `scripts/unicode_tables.py` writes the file and says how it reads.
 */
internal object Unicode {
    const val WHITE = 1
    const val CONTROL = 1 shl 1
    const val PUNCTUATION = 1 shl 2
    const val NONSPACING = 1 shl 3
    const val COMBINING = 1 shl 4
    const val WORD = 1 shl 5
    const val REGEX_LETTER = 1 shl 6
    const val REGEX_NUMBER = 1 shl 7
    const val REGEX_MARK = 1 shl 8
    const val REGEX_SPACE = 1 shl 9
    const val GRAPHEME_CONTROL = 1 shl 10
    const val GRAPHEME_EXTEND = 1 shl 11
    const val GRAPHEME_SPACING = 1 shl 12
    const val GRAPHEME_PREPEND = 1 shl 13
    const val GRAPHEME_L = 1 shl 14
    const val GRAPHEME_V = 1 shl 15
    const val GRAPHEME_T = 1 shl 16
    const val PICTOGRAPHIC = 1 shl 17
    const val CONJUNCT_CONSONANT = 1 shl 18
    const val CONJUNCT_LINKER = 1 shl 19
    const val CONJUNCT_EXTEND = 1 shl 20

    /** Has another lower case. */
    const val CASED = 1 shl 21

    /** NFD, or NFKD, writes something else, or sorts it among its neighbours. */
    const val DECOMPOSES = 1 shl 22
    const val DECOMPOSES_COMPATIBLY = 1 shl 23

    /** Its canonical combining class is not 0. */
    const val SORTED = 1 shl 24

    private val tables = UnicodeTables.read()

    fun flags(point: Int): Int = tables.flags(point)

    fun has(
        point: Int,
        property: Int,
    ): Boolean = tables.flags(point) and property != 0

    /** Code points of the lower case of a character that is [CASED]. */
    fun lower(point: Int): IntArray = checkNotNull(tables.lower[point])

    /** The full decomposition of a character, null where it has none; Hangul syllables are not asked for. */
    fun decomposition(
        point: Int,
        compatible: Boolean,
    ): IntArray? = (if (compatible) tables.compatible else tables.canonical)[point]

    fun combiningClass(point: Int): Int = if (has(point, SORTED)) tables.combiningClasses[point]?.get(0) ?: 0 else 0

    /** The character that two others compose to, or -1. */
    fun composition(
        first: Int,
        second: Int,
    ): Int = tables.compositions.find(first, second)
}
