package org.mobilekit.core.text

/**
 * What a tokenizer makes of a text, or of a pair of texts; all lists are as long as [ids].
 *
 * [starts], [ends]: where each token stands in its own text, as indices of UTF-16 units, so that
 * `text.substring(start, end)` is it; both 0 for special tokens. [words]: number of the word that it is a part of, from
 * 0 in each text, -1 for special tokens. [sequences]: 0 for the first text, 1 for the second, -1 for special tokens.
 * [truncated]: whether a text was cut.
 */
class Encoding(
    val ids: IntArray,
    val typeIds: IntArray,
    val starts: IntArray,
    val ends: IntArray,
    val words: IntArray,
    val sequences: IntArray,
    val truncated: Boolean,
) {
    val size: Int get() = ids.size
}

/** Which text is cut where both do not fit. */
enum class Truncation {
    /** From the longer one, token by token. */
    LONGEST_FIRST,
    ONLY_FIRST,
    ONLY_SECOND,
}
