package org.mobilekit.core.text.decode

/** A step from tokens to text. */
internal fun interface Decoder {
    fun decode(tokens: List<String>): List<String>
}

/** Several of them, in turn. */
internal class DecoderSequence(
    private val steps: List<Decoder>,
) : Decoder {
    override fun decode(tokens: List<String>): List<String> = steps.fold(tokens) { made, step -> step.decode(made) }
}

/** Joins pieces with [prefix] to those before them, and puts spaces between words; [cleanup] takes some away again. */
internal class WordPieceDecoder(
    private val prefix: String,
    private val cleanup: Boolean,
) : Decoder {
    override fun decode(tokens: List<String>): List<String> =
        tokens.mapIndexed { i, token ->
            val joined =
                when {
                    i == 0 -> token
                    token.startsWith(prefix) -> token.removePrefix(prefix)
                    else -> " $token"
                }
            if (cleanup) CLEANUP.fold(joined) { text, (from, to) -> text.replace(from, to) } else joined
        }

    private companion object {
        val CLEANUP =
            listOf(
                " ." to ".",
                " ?" to "?",
                " !" to "!",
                " ," to ",",
                " ' " to "'",
                " n't" to "n't",
                " 'm" to "'m",
                " do not" to " don't",
                " 's" to "'s",
                " 've" to "'ve",
                " 're" to "'re",
            )
    }
}

/** Spaces for SentencePiece's sign; in the first token none, where the sign was put there ([prepended]). */
internal class MetaspaceDecoder(
    private val replacement: String,
    private val prepended: Boolean,
) : Decoder {
    override fun decode(tokens: List<String>): List<String> =
        tokens.mapIndexed { i, token -> token.replace(replacement, if (i == 0 && prepended) "" else " ") }
}

/** Spaces for the sign that ends a word; at the last token none. */
internal class BytePairDecoder(
    private val suffix: String,
) : Decoder {
    override fun decode(tokens: List<String>): List<String> =
        tokens.mapIndexed { i, token -> token.replace(suffix, if (i == tokens.lastIndex) "" else " ") }
}

/** All tokens as one. */
internal object FuseDecoder : Decoder {
    override fun decode(tokens: List<String>): List<String> = listOf(tokens.joinToString(""))
}

/** Takes up to [start] times [content] off the begin of each token, and up to [stop] times off its end. */
internal class StripDecoder(
    private val content: String,
    private val start: Int,
    private val stop: Int,
) : Decoder {
    override fun decode(tokens: List<String>): List<String> = tokens.map(::strip)

    private fun strip(token: String): String {
        var text = token
        var left = start
        while (left > 0 && text.startsWith(content)) {
            text = text.removePrefix(content)
            left--
        }
        left = stop
        while (left > 0 && text.endsWith(content)) {
            text = text.removeSuffix(content)
            left--
        }
        return text
    }
}
