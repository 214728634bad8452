package org.mobilekit.core.text.model

import org.mobilekit.core.text.normalize.AlignedText
import org.mobilekit.core.text.normalize.utf8Byte
import org.mobilekit.core.text.normalize.utf8Length

/**
 * Unigram (Kudo 2018): the pieces with the highest sum of [scores], by the Viterbi algorithm.
 *
 * A character that is no piece is the piece [unknown], ten below the lowest score; a run of them is one token, or, where
 * [bytePieces] has all of them (ids of `<0x00>` to `<0xFF>`), its bytes.
 */
internal class Unigram(
    override val vocabulary: Vocabulary,
    private val scores: DoubleArray,
    private val unknown: Int,
    private val bytePieces: IntArray?,
) : Model {
    private val trie = vocabulary.trie
    private val unknownScore = (scores.minOrNull() ?: 0.0) - PENALTY
    private val paths = ThreadLocal.withInitial { Paths() }

    override fun tokenize(
        text: AlignedText,
        from: Int,
        to: Int,
        word: Int,
        tokens: Tokens,
    ) {
        val path = checkNotNull(paths.get())
        path.reset(to - from)
        for (start in from until to) extend(path, text.points, from, to, start)
        var end = to - from
        val found = path.found
        var count = 0
        while (end > 0) {
            found[count++] = end
            end = path.before[end]
        }
        var begin = 0
        while (count > 0) {
            end = found[--count]
            // Unknown characters in a row are one token.
            if (path.ids[end] == unknown) {
                while (count > 0 && path.ids[found[count - 1]] == unknown) end = found[--count]
            }
            add(text, from + begin, from + end, path.ids[end], word, tokens)
            begin = end
        }
    }

    /** Notes the pieces that begin at [start] where they are the best way to their end. */
    private fun extend(
        path: Paths,
        points: IntArray,
        from: Int,
        to: Int,
        start: Int,
    ) {
        val score = path.scores[start - from]
        var node = TokenTrie.ROOT
        var single = false
        var at = start
        while (at < to) {
            node = trie.child(node, points[at])
            if (node == TokenTrie.NONE) break
            at++
            val id = trie.value(node)
            if (id == TokenTrie.NONE) continue
            path.offer(start - from, at - from, scores[id] + score, id)
            if (at == start + 1) single = true
        }
        if (!single) path.offer(start - from, start + 1 - from, unknownScore + score, unknown)
    }

    private fun add(
        text: AlignedText,
        from: Int,
        to: Int,
        id: Int,
        word: Int,
        tokens: Tokens,
    ) {
        val start = text.starts[from]
        val end = text.ends[to - 1]
        if (id != unknown) return tokens.add(id, start, end, word)
        val known = trie.find(text.points, from, to)
        when {
            known != TokenTrie.NONE -> {
                tokens.add(known, start, end, word)
            }

            bytePieces == null || !hasBytes(text.points, from, to, bytePieces) -> {
                tokens.add(unknown, start, end, word)
            }

            else -> {
                eachByte(text.points, from, to) { tokens.add(bytePieces[it], start, end, word) }
            }
        }
    }

    private fun hasBytes(
        points: IntArray,
        from: Int,
        to: Int,
        pieces: IntArray,
    ): Boolean {
        var all = true
        eachByte(points, from, to) { all = all && pieces[it] != TokenTrie.NONE }
        return all
    }

    private inline fun eachByte(
        points: IntArray,
        from: Int,
        to: Int,
        action: (Int) -> Unit,
    ) {
        for (i in from until to) {
            val length = utf8Length(points[i])
            for (at in 0 until length) action(utf8Byte(points[i], length, at))
        }
    }

    /** The best way to each place: its score, where its last piece begins, and that piece. */
    private class Paths {
        var scores = DoubleArray(0)
        var before = IntArray(0)
        var ids = IntArray(0)
        var found = IntArray(0)

        fun reset(length: Int) {
            if (before.size <= length || before.size > MOST_KEPT) {
                val capacity = if (length < MOST_KEPT / 2) maxOf(2 * length, LEAST) else length + 1
                scores = DoubleArray(capacity)
                before = IntArray(capacity)
                ids = IntArray(capacity)
                found = IntArray(capacity)
            }
            before.fill(TokenTrie.NONE, 0, length + 1)
            scores[0] = 0.0
        }

        fun offer(
            start: Int,
            end: Int,
            score: Double,
            id: Int,
        ) {
            if (before[end] != TokenTrie.NONE && score <= scores[end]) return
            scores[end] = score
            before[end] = start
            ids[end] = id
        }
    }

    private companion object {
        const val PENALTY = 10.0
        const val LEAST = 256
        const val MOST_KEPT = 1 shl 16
    }
}
