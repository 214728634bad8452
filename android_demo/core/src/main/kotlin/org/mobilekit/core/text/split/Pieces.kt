package org.mobilekit.core.text.split

import org.mobilekit.core.text.IntColumns
import org.mobilekit.core.text.normalize.AlignedText

/**
 * Parts of a text, in order; those of no characters are left out.
 *
 * [origins]: where each begins in the original text, in code points. [tokens]: the id that a part stands for as it is
 * (an added token), or -1.
 */
internal class Pieces(
    val text: AlignedText,
) : IntColumns(4, FIRST_CAPACITY) {
    val froms: IntArray get() = column(0)
    val tos: IntArray get() = column(1)
    val origins: IntArray get() = column(2)
    val tokens: IntArray get() = column(3)

    fun add(
        from: Int,
        to: Int,
        origin: Int,
        token: Int = -1,
    ) {
        if (from >= to) return
        reserve(1)
        froms[size] = from
        tos[size] = to
        origins[size] = origin
        tokens[size] = token
        size++
    }

    /** Adds the characters [from] until [to], which begin where the first of them does. */
    fun add(
        from: Int,
        to: Int,
    ) {
        if (from < to) add(from, to, text.starts[from])
    }

    private companion object {
        const val FIRST_CAPACITY = 16
    }
}

/** A step that splits a text into words, and may rewrite them. */
internal fun interface PreTokenizer {
    fun split(pieces: Pieces): Pieces
}

/** Several of them, in turn. */
internal class PreTokenizerSequence(
    private val steps: List<PreTokenizer>,
) : PreTokenizer {
    override fun split(pieces: Pieces): Pieces = steps.fold(pieces) { made, step -> step.split(made) }
}

/** Splits each part that is no token. */
internal inline fun Pieces.splitEach(split: Pieces.(from: Int, to: Int) -> Unit): Pieces {
    val made = Pieces(text)
    for (i in 0 until size) {
        if (tokens[i] >= 0) made.add(froms[i], tos[i], origins[i], tokens[i]) else made.split(froms[i], tos[i])
    }
    return made
}

/** Rewrites each part that is no token: [rewrite] adds its characters to the new text. */
internal inline fun Pieces.rewriteEach(rewrite: (made: AlignedText, from: Int, to: Int, origin: Int) -> Unit): Pieces {
    val made = Pieces(AlignedText(text.size + size, text.origin))
    for (i in 0 until size) {
        val from = made.text.size
        if (tokens[i] >= 0) {
            made.text.addAll(text, froms[i], tos[i])
        } else {
            rewrite(made.text, froms[i], tos[i], origins[i])
        }
        made.add(from, made.text.size, origins[i], tokens[i])
    }
    return made
}
