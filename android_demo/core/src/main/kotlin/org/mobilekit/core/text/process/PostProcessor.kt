package org.mobilekit.core.text.process

import org.mobilekit.core.text.model.Tokens

/**
 * What is done to tokens at the end: [single] and [pair] put special tokens around them; [trimming], where it is not
 * null, takes white space out of their offsets.
 */
internal class PostProcessor(
    val single: Template,
    val pair: Template,
    val trimming: Trimming?,
) {
    companion object {
        /** Of the texts alone. */
        fun plain(trimming: Trimming?): PostProcessor {
            val first = TemplatePart.Text(sequence = 0, typeId = 0)
            val second = TemplatePart.Text(sequence = 1, typeId = 1)
            return PostProcessor(Template(listOf(first)), Template(listOf(first, second)), trimming)
        }
    }
}

/** Byte-level tokens begin with the space before a word; their offsets are to be those of the word. */
internal class Trimming(
    private val prefixSpace: Boolean,
) {
    fun trim(tokens: Tokens) {
        for (i in 0 until tokens.size) {
            var leading = TokenSpaces.leading(tokens.spaces[i])
            val trailing = TokenSpaces.trailing(tokens.spaces[i])
            // The space that was put before a text is no part of it.
            val isFirst = i == 0 || tokens.starts[i] == 0
            if (isFirst && prefixSpace && leading == 1) leading = 0
            tokens.starts[i] = minOf(tokens.starts[i] + leading, tokens.ends[i])
            if (trailing > 0 && tokens.ends[i] >= trailing) {
                tokens.ends[i] = maxOf(tokens.ends[i] - trailing, tokens.starts[i])
            }
        }
    }
}
