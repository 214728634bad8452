package org.mobilekit.core.text.model

import org.mobilekit.core.text.IntColumns

/** Tokens of a text, one after the other; the first [size] of each list count. Positions are in code points. */
internal class Tokens(
    capacity: Int = FIRST_CAPACITY,
) : IntColumns(4, capacity) {
    val ids: IntArray get() = column(0)
    val starts: IntArray get() = column(1)
    val ends: IntArray get() = column(2)
    val words: IntArray get() = column(3)

    /** White space that the tokens' own texts begin and end with; kept where offsets are trimmed. */
    var spaces = IntArray(0)
        private set

    fun add(
        id: Int,
        start: Int,
        end: Int,
        word: Int,
    ) {
        reserve(1)
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
