package org.mobilekit.core.text.model

import org.mobilekit.core.text.normalize.AlignedText
import org.mobilekit.core.text.normalize.utf8Length

/**
 * Byte pair encoding (Sennrich et al. 2016): characters, of which the pair of the least rank is merged, again and again.
 *
 * A character without a token is [unknown] ([fuseUnknown]: a run of them is one), or left out where that is
 * [TokenTrie.NONE]. [wholeWords]: a word that is a token is not taken apart.
 */
internal class BytePairs(
    override val vocabulary: Vocabulary,
    private val merges: Merges,
    private val unknown: Int,
    private val fuseUnknown: Boolean,
    private val wholeWords: Boolean,
) : Model {
    private val cache = WordCache()

    override fun tokenize(
        text: AlignedText,
        from: Int,
        to: Int,
        word: Int,
        tokens: Tokens,
    ) {
        val points = text.points
        val pieces = cache.find(points, from, to) ?: cache.add(points, from, to, pieces(points, from, to))
        var at = from
        for (i in pieces.ids.indices) {
            val end = at + pieces.lengths[i]
            tokens.add(pieces.ids[i], text.starts[at], text.ends[end - 1], word)
            at = end
        }
    }

    private fun pieces(
        points: IntArray,
        from: Int,
        to: Int,
    ): WordPieces {
        if (wholeWords) {
            val id = vocabulary.trie.find(points, from, to)
            if (id != TokenTrie.NONE) return WordPieces(intArrayOf(id), intArrayOf(to - from))
        }
        val symbols = Symbols(to - from)
        var leftOut = false
        for (i in from until to) {
            val id = vocabulary.trie.find(points, i, i + 1)
            when {
                id != TokenTrie.NONE -> symbols.add(id, 1, known = true)
                unknown == TokenTrie.NONE -> leftOut = true
                fuseUnknown && symbols.endsUnknown -> symbols.lengthen()
                else -> symbols.add(unknown, 1, known = false)
            }
        }
        symbols.merge(merges)
        val made = symbols.pieces()
        return if (leftOut) shifted(made, points, from, to) else made
    }

    /**
     * Where characters were left out, the library lays the tokens one after the other from the word's begin, by their
     * bytes; this does so too.
     */
    private fun shifted(
        pieces: WordPieces,
        points: IntArray,
        from: Int,
        to: Int,
    ): WordPieces {
        val kept = (from until to).filter { vocabulary.trie.find(points, it, it + 1) != TokenTrie.NONE }
        val places = (from until to).flatMap { i -> List(utf8Length(points[i])) { i - from } }
        val lengths = IntArray(pieces.ids.size)
        var symbol = 0
        var bytes = 0
        var end = 0
        for (i in lengths.indices) {
            repeat(pieces.lengths[i]) { bytes += utf8Length(points[kept[symbol++]]) }
            val next = places[bytes - 1] + 1
            lengths[i] = next - end
            end = next
        }
        return WordPieces(pieces.ids, lengths)
    }
}

/** Tokens of a word, and how many characters each has. */
internal class WordPieces(
    val ids: IntArray,
    val lengths: IntArray,
)
