package org.mobilekit.core.text.normalize

/**
 * How a text is rewritten: its new code points, and for each what it stands for, as in the reference library: 1, it is
 * put in after the one before; 0, it is written for the next old one; -n, for the next old one and the n after it.
 */
internal class Changes(
    capacity: Int,
) {
    var points = IntArray(capacity)
        private set
    var changes = IntArray(capacity)
        private set
    var size = 0
        private set

    /** Old characters that are left out before the first new one. */
    var removedFirst = 0

    fun add(
        point: Int,
        change: Int,
    ) {
        if (size == points.size) {
            val larger = maxOf(LEAST_CAPACITY, 2 * size)
            points = points.copyOf(larger)
            changes = changes.copyOf(larger)
        }
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

    private companion object {
        const val LEAST_CAPACITY = 16
    }
}
