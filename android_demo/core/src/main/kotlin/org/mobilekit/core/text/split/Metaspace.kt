package org.mobilekit.core.text.split

/** Where SentencePiece's sign for a space is put before a text that has none there. */
internal enum class PrependScheme {
    /** Before the part that begins the original text. */
    FIRST,
    NEVER,
    ALWAYS,
}

/** Writes spaces as [replacement], puts one first, and ([splits]) lets a word begin at each. */
internal class Metaspace(
    private val replacement: Int,
    private val scheme: PrependScheme,
    private val splits: Boolean,
) : PreTokenizer {
    override fun split(pieces: Pieces): Pieces {
        val written =
            pieces.rewriteEach { made, from, to, origin ->
                val text = pieces.text
                val first = written(text.points[from])
                val prepends = scheme == PrependScheme.ALWAYS || (scheme == PrependScheme.FIRST && origin == 0)
                if (prepends && first != replacement) made.add(replacement, text.starts[from], text.ends[from])
                for (i in from until to) made.add(written(text.points[i]), text.starts[i], text.ends[i])
            }
        if (!splits) return written
        return written.splitEach { from, to ->
            var begin = from
            for (i in from + 1 until to) {
                if (text.points[i] != replacement) continue
                add(begin, i)
                begin = i
            }
            add(begin, to)
        }
    }

    private fun written(point: Int): Int = if (point == SPACE) replacement else point

    private companion object {
        const val SPACE = 0x20
    }
}
