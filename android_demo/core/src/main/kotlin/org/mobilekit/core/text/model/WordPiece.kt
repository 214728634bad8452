package org.mobilekit.core.text.model

import org.mobilekit.core.text.normalize.AlignedText

/**
 * WordPiece (Wu et al. 2016; as in Devlin et al. 2019): the longest token that a word begins with, then the longest one
 * with [prefix] that goes on; a word that has no such tokens, or more than [longest] characters, is [unknown].
 */
internal class WordPiece(
    override val vocabulary: Vocabulary,
    private val unknown: Int,
    prefix: String,
    private val longest: Int,
) : Model {
    private val trie = vocabulary.trie
    private val continued = trie.nodeOf(prefix)

    override fun tokenize(
        text: AlignedText,
        from: Int,
        to: Int,
        word: Int,
        tokens: Tokens,
    ) {
        val before = tokens.size
        val whole = to - from <= longest && addPieces(text, from, to, word, tokens)
        if (whole) return
        tokens.truncate(before)
        tokens.add(unknown, text.starts[from], text.ends[to - 1], word)
    }

    private fun addPieces(
        text: AlignedText,
        from: Int,
        to: Int,
        word: Int,
        tokens: Tokens,
    ): Boolean {
        var start = from
        while (start < to) {
            var node = if (start == from) TokenTrie.ROOT else continued
            var id = TokenTrie.NONE
            var end = start
            var at = start
            while (at < to && node != TokenTrie.NONE) {
                node = trie.child(node, text.points[at++])
                if (node != TokenTrie.NONE && trie.value(node) != TokenTrie.NONE) {
                    id = trie.value(node)
                    end = at
                }
            }
            if (id == TokenTrie.NONE) return false
            tokens.add(id, text.starts[start], text.ends[end - 1], word)
            start = end
        }
        return true
    }
}
