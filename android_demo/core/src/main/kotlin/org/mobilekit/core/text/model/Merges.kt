package org.mobilekit.core.text.model

import org.mobilekit.core.text.json.JsonCursor

/** Merges of byte pair encoding: pairs of ids, with their rank and the id of what they become. */
internal class Merges private constructor(
    private val keys: LongArray,
    private val ranks: IntArray,
    private val made: IntArray,
) {
    /** The rank of a pair, or [NONE]. */
    fun rank(
        first: Int,
        second: Int,
    ): Int {
        val key = key(first, second)
        var slot = slot(key, keys.size)
        while (keys[slot] != key) {
            if (keys[slot] == FREE) return NONE
            slot = (slot + 1) and (keys.size - 1)
        }
        return ranks[slot]
    }

    /** The id that the pair of a rank becomes. */
    fun made(rank: Int): Int = made[rank]

    companion object {
        const val NONE = -1
        private const val FREE = -1L
        private const val SPREAD = -0x61c8864680b583ebL
        private const val SPREAD_SHIFT = 32
        private const val HEADER = "#version"

        private fun key(
            first: Int,
            second: Int,
        ): Long = first.toLong() shl Int.SIZE_BITS or second.toLong()

        private fun slot(
            key: Long,
            capacity: Int,
        ): Int = (key * SPREAD ushr SPREAD_SHIFT).toInt() and (capacity - 1)

        /** Reads an array of pairs, each an array or two tokens with a space between, best first, as texts. */
        fun readPairs(json: JsonCursor): TokenTexts {
            val parts = TokenTexts()
            json.readArray {
                if (json.peek() == '[') readPair(json, parts) else splitPair(json, json.readString(), parts)
            }
            return parts
        }

        private fun readPair(
            json: JsonCursor,
            parts: TokenTexts,
        ) {
            val before = parts.size
            json.readArray { parts.add(json.readString()) }
            if (parts.size != before + 2) json.fail("a merge has ${parts.size - before} parts, not two")
        }

        private fun splitPair(
            json: JsonCursor,
            line: String,
            parts: TokenTexts,
        ) {
            if (line.startsWith(HEADER)) return
            val pair = line.split(' ')
            if (pair.size != 2) json.fail("'$line' is no merge of two tokens")
            pair.forEach(parts::add)
        }

        /** [parts]: what [readPairs] gave. Calls [fail] for a merge of tokens that are not in the vocabulary. */
        fun of(
            parts: TokenTexts,
            vocabulary: Vocabulary,
            fail: (String) -> Nothing,
        ): Merges {
            val count = parts.size / 2
            var capacity = 2
            while (capacity < 2 * count + 2) capacity *= 2
            val merges = Merges(LongArray(capacity) { FREE }, IntArray(capacity), IntArray(count))
            for (rank in 0 until count) {
                val (first, second) = parts[2 * rank] to parts[2 * rank + 1]
                val ids = listOf(first, second, first + second).map(vocabulary::id)
                if (TokenTrie.NONE in ids) fail("merge $rank, '$first $second', is not of tokens of its vocabulary")
                merges.put(key(ids[0], ids[1]), rank, ids[2])
            }
            return merges
        }
    }

    private fun put(
        key: Long,
        rank: Int,
        id: Int,
    ) {
        var slot = slot(key, keys.size)
        while (keys[slot] != FREE && keys[slot] != key) slot = (slot + 1) and (keys.size - 1)
        keys[slot] = key
        ranks[slot] = rank
        made[rank] = id
    }
}
