package org.mobilekit.core.text.process

import org.mobilekit.core.text.Encoding
import org.mobilekit.core.text.model.Tokens

/** A part of what a model reads: a text, or special tokens; [typeId] is that of its tokens. */
internal sealed interface TemplatePart {
    val typeId: Int

    /** The first text (0) or the second (1). */
    class Text(
        val sequence: Int,
        override val typeId: Int,
    ) : TemplatePart

    class Special(
        val ids: IntArray,
        override val typeId: Int,
    ) : TemplatePart
}

/** How a text, or a pair of texts, becomes what a model reads. */
internal class Template(
    private val parts: List<TemplatePart>,
) {
    /** Special tokens that it adds. */
    val added: Int = parts.sumOf { if (it is TemplatePart.Special) it.ids.size else 0 }

    /** Puts the parts one after the other; [places]: of each text, the UTF-16 index of each code point, or null. */
    fun apply(
        texts: List<Tokens>,
        places: List<IntArray?>,
        truncated: Boolean,
    ): Encoding {
        val made = Builder(added + texts.sumOf { it.size })
        for (part in parts) {
            when (part) {
                is TemplatePart.Special -> made.add(part)
                is TemplatePart.Text -> made.add(part, texts[part.sequence], places[part.sequence])
            }
        }
        return made.build(truncated)
    }

    private class Builder(
        size: Int,
    ) {
        private val ids = IntArray(size)
        private val typeIds = IntArray(size)
        private val starts = IntArray(size)
        private val ends = IntArray(size)
        private val words = IntArray(size) { NONE }
        private val sequences = IntArray(size) { NONE }
        private var at = 0

        fun add(part: TemplatePart.Special) {
            part.ids.copyInto(ids, at)
            typeIds.fill(part.typeId, at, at + part.ids.size)
            at += part.ids.size
        }

        fun add(
            part: TemplatePart.Text,
            tokens: Tokens,
            places: IntArray?,
        ) {
            tokens.ids.copyInto(ids, at, 0, tokens.size)
            tokens.words.copyInto(words, at, 0, tokens.size)
            typeIds.fill(part.typeId, at, at + tokens.size)
            sequences.fill(part.sequence, at, at + tokens.size)
            for (i in 0 until tokens.size) {
                starts[at + i] = places?.get(tokens.starts[i]) ?: tokens.starts[i]
                ends[at + i] = places?.get(tokens.ends[i]) ?: tokens.ends[i]
            }
            at += tokens.size
        }

        fun build(truncated: Boolean) = Encoding(ids, typeIds, starts, ends, words, sequences, truncated)
    }

    private companion object {
        const val NONE = -1
    }
}
