package org.mobilekit.core.text.split

import org.mobilekit.core.text.unicode.Unicode

/** Whether BERT takes a character for punctuation: also ASCII signs that Unicode calls symbols. */
internal fun isPunctuation(point: Int): Boolean = Unicode.has(point, Unicode.PUNCTUATION)

/** At white space, which is left out. */
internal object WhitespaceSplit : PreTokenizer {
    override fun split(pieces: Pieces): Pieces =
        pieces.splitEach { from, to ->
            var begin = from
            for (i in from until to) {
                if (!Unicode.has(text.points[i], Unicode.WHITE)) continue
                add(begin, i)
                begin = i + 1
            }
            add(begin, to)
        }
}

/** At white space, and around each sign of punctuation. */
internal object BertPreTokenizer : PreTokenizer {
    override fun split(pieces: Pieces): Pieces =
        pieces.splitEach { from, to ->
            var begin = from
            for (i in from until to) {
                val flags = Unicode.flags(text.points[i])
                if (flags and (Unicode.WHITE or Unicode.PUNCTUATION) == 0) continue
                add(begin, i)
                if (flags and Unicode.WHITE == 0) add(i, i + 1)
                begin = i + 1
            }
            add(begin, to)
        }
}

/** Runs of word characters, and runs of what is neither these nor white space. */
internal object Whitespace : PreTokenizer {
    override fun split(pieces: Pieces): Pieces =
        pieces.splitEach { from, to ->
            var begin = from
            while (begin < to) {
                val kind = kind(text.points[begin])
                var end = begin + 1
                while (end < to && kind(text.points[end]) == kind) end++
                if (kind != Unicode.WHITE) add(begin, end)
                begin = end
            }
        }

    private fun kind(point: Int): Int {
        val flags = Unicode.flags(point)
        return if (flags and Unicode.WORD != 0) Unicode.WORD else flags and Unicode.WHITE
    }
}
