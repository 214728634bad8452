package org.mobilekit.core.text.model

/** Tokens of a text, one after the other; the first [size] of each list count. Positions are in code points. */
internal class Tokens(
    capacity: Int = FIRST_CAPACITY,
) {
    var ids = IntArray(capacity)
        private set
    var starts = IntArray(capacity)
        private set
    var ends = IntArray(capacity)
        private set
    var words = IntArray(capacity)
        private set

    /** White space that the tokens' own texts begin and end with; kept where offsets are trimmed. */
    var spaces = IntArray(0)
        private set
    var size = 0
        private set

    fun add(
        id: Int,
        start: Int,
        end: Int,
        word: Int,
    ) {
        if (size == ids.size) {
            val larger = 2 * size
            ids = ids.copyOf(larger)
            starts = starts.copyOf(larger)
            ends = ends.copyOf(larger)
            words = words.copyOf(larger)
        }
        ids[size] = id
        starts[size] = start
        ends[size] = end
        words[size] = word
        size++
    }

    /** Notes the white space of token [index]. */
    fun spaced(
        index: Int,
        counts: Int,
    ) {
        if (spaces.size < ids.size) spaces = spaces.copyOf(ids.size)
        spaces[index] = counts
    }

    /** Leaves out what is behind the first [count]. */
    fun truncate(count: Int) {
        size = minOf(size, count)
    }

    private companion object {
        const val FIRST_CAPACITY = 64
    }
}
