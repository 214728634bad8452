package org.mobilekit.core.text

/** The ids of the `tokenizers` library, from the same `tokenizer.json`. Several threads may use one at a time. */
interface Tokenizer {
    /** The token that stands for a missing word, as it is written in a text, and its id; null where there is none. */
    val maskToken: String?
    val maskId: Int?

    /** The token of an id, as the vocabulary writes it; null where there is none. */
    fun token(id: Int): String?

    /** The text of ids, as the `tokenizers` library's decoder writes it, special tokens left out. */
    fun decode(ids: IntArray): String

    /**
     * Tokens of [text], and of [pair] behind it, with special tokens; at most [limit] of them.
     *
     * Throws [org.mobilekit.core.InputException] where [limit] leaves no room: for the special tokens, or, where one text
     * alone may be cut, for a token of it; and where a text has half a character (a lone surrogate).
     */
    fun encode(
        text: String,
        pair: String? = null,
        limit: Int = Int.MAX_VALUE,
        truncation: Truncation = Truncation.LONGEST_FIRST,
    ): Encoding
}
