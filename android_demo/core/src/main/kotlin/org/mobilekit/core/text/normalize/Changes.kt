package org.mobilekit.core.text.normalize

import org.mobilekit.core.text.IntColumns

/**
 * How a text is rewritten: its new code points, and for each what it stands for, as in the reference library: 1, it is
 * put in after the one before; 0, it is written for the next old one; -n, for the next old one and the n after it.
 */
internal class Changes(
    capacity: Int,
) : IntColumns(2, capacity) {
    val points: IntArray get() = column(0)
    val changes: IntArray get() = column(1)

    /** Old characters that are left out before the first new one. */
    var removedFirst = 0

    fun add(
        point: Int,
        change: Int,
    ) {
        reserve(1)
        points[size] = point
        changes[size] = change
        size++
    }

    /** Writes [count] old characters as [text]. */
    fun replace(
        count: Int,
        text: IntArray,
    ) {
        val difference = text.size - count
        for (i in text.indices) add(text[i], if (i >= text.size - maxOf(difference, 0)) 1 else 0)
        // The last one written takes in what is removed; before the first one nothing does, which moves the alignment.
        if (difference < 0 && size > 0) changes[size - 1] += difference
    }

    /** Leaves an old character out: the last one written takes it in, or [removedFirst]. */
    fun remove() {
        if (size > 0) changes[size - 1]-- else removedFirst++
    }

    fun clear() {
        size = 0
    }
}
