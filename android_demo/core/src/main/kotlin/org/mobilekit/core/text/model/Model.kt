package org.mobilekit.core.text.model

import org.mobilekit.core.text.normalize.AlignedText

/** What makes tokens of a word. */
internal interface Model {
    val vocabulary: Vocabulary

    /** Adds the tokens of the characters [from] until [to] of [text], as those of word [word]. */
    fun tokenize(
        text: AlignedText,
        from: Int,
        to: Int,
        word: Int,
        tokens: Tokens,
    )
}
