package org.mobilekit.core.text.split

import org.mobilekit.core.text.normalize.utf8Byte
import org.mobilekit.core.text.normalize.utf8Length
import org.mobilekit.core.text.unicode.Unicode

/**
 * GPT-2's words (Radford et al. 2019), each written as the characters that stand for its bytes.
 *
 * [prefixSpace]: a text without a space before it gets one. [splits]: whether texts are split at all. A word is, of these
 * the first that fits: an English ending after an apostrophe; letters, digits, or other signs, with the space before
 * them; white space, of which the last one is left to the word behind it.
 */
internal class ByteLevel(
    private val prefixSpace: Boolean,
    private val splits: Boolean,
) : PreTokenizer {
    override fun split(pieces: Pieces): Pieces {
        val spaced = if (prefixSpace) withSpace(pieces) else pieces
        val words = if (splits) spaced.splitEach { from, to -> splitWords(from, to) } else spaced
        return words.rewriteEach { made, from, to, _ ->
            val text = words.text
            for (i in from until to) {
                val length = utf8Length(text.points[i])
                for (at in 0 until length) {
                    val character = ByteAlphabet.character(utf8Byte(text.points[i], length, at))
                    made.add(character, text.starts[i], text.ends[i])
                }
            }
        }
    }

    private fun withSpace(pieces: Pieces): Pieces =
        pieces.rewriteEach { made, from, to, _ ->
            val text = pieces.text
            if (text.points[from] != SPACE) made.add(SPACE, text.starts[from], text.ends[from])
            made.addAll(text, from, to)
        }

    private fun Pieces.splitWords(
        from: Int,
        to: Int,
    ) {
        var begin = from
        while (begin < to) {
            val end = wordEnd(text.points, begin, to)
            add(begin, end)
            begin = end
        }
    }

    private fun wordEnd(
        points: IntArray,
        from: Int,
        to: Int,
    ): Int {
        val ending = endingLength(points, from, to)
        if (ending > 0) return from + ending
        val first = if (points[from] == SPACE && from + 1 < to) from + 1 else from
        val kind = kind(points[first])
        if (kind != Unicode.REGEX_SPACE) return runEnd(points, first, to, kind)
        val end = runEnd(points, from, to, kind)
        return if (end == to || end == from + 1) end else end - 1
    }

    private fun runEnd(
        points: IntArray,
        from: Int,
        to: Int,
        kind: Int,
    ): Int {
        var end = from
        while (end < to && kind(points[end]) == kind) end++
        return end
    }

    private fun kind(point: Int): Int {
        val flags = Unicode.flags(point)
        return when {
            flags and Unicode.REGEX_LETTER != 0 -> Unicode.REGEX_LETTER
            flags and Unicode.REGEX_NUMBER != 0 -> Unicode.REGEX_NUMBER
            else -> flags and Unicode.REGEX_SPACE
        }
    }

    /** Characters of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d`, 0 for anything else. */
    private fun endingLength(
        points: IntArray,
        from: Int,
        to: Int,
    ): Int {
        if (points[from] != APOSTROPHE || from + 1 >= to) return 0
        val next = if (from + 2 < to) points[from + 2] else SPACE
        return when (points[from + 1]) {
            's'.code, 't'.code, 'm'.code, 'd'.code -> 2
            'r'.code, 'v'.code -> if (next == 'e'.code) LONG_ENDING else 0
            'l'.code -> if (next == 'l'.code) LONG_ENDING else 0
            else -> 0
        }
    }

    private companion object {
        const val SPACE = 0x20
        const val APOSTROPHE = 0x27
        const val LONG_ENDING = 3
    }
}
