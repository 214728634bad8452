package org.mobilekit.core.text.model

/**
 * The pieces of words seen before, a bounded number of them: a word takes the place of another with the same slot.
 *
 * Threads may use it at once, without locks: entries do not change, and a lost one is made again.
 */
internal class WordCache {
    private class Entry(
        val word: IntArray,
        val pieces: WordPieces,
    )

    private val entries = arrayOfNulls<Entry>(CAPACITY)

    fun find(
        points: IntArray,
        from: Int,
        to: Int,
    ): WordPieces? {
        val entry = entries[slot(points, from, to)] ?: return null
        if (entry.word.size != to - from) return null
        for (i in entry.word.indices) if (entry.word[i] != points[from + i]) return null
        return entry.pieces
    }

    /** Keeps the pieces of a word that is not too long, and returns them. */
    fun add(
        points: IntArray,
        from: Int,
        to: Int,
        pieces: WordPieces,
    ): WordPieces {
        if (to - from <= LONGEST) entries[slot(points, from, to)] = Entry(points.copyOfRange(from, to), pieces)
        return pieces
    }

    private fun slot(
        points: IntArray,
        from: Int,
        to: Int,
    ): Int {
        var hash = to - from
        for (i in from until minOf(to, from + LONGEST)) hash = hash * FACTOR + points[i]
        return (hash xor (hash ushr HALF)) and (CAPACITY - 1)
    }

    private companion object {
        const val CAPACITY = 1 shl 13
        const val LONGEST = 64
        const val FACTOR = 31
        const val HALF = 15
    }
}
