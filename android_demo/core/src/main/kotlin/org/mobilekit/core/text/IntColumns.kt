package org.mobilekit.core.text

/**
 * Rows of whole numbers, [count] each, kept by column and without boxes; room grows as rows come.
 *
 * The first [size] of each column count. A column is another array after rows were added.
 */
internal abstract class IntColumns(
    count: Int,
    capacity: Int,
) {
    private val columns = Array(count) { IntArray(capacity) }

    var size: Int = 0
        protected set

    protected fun column(index: Int): IntArray = columns[index]

    /** Makes room for [more] rows behind the last one. */
    protected fun reserve(more: Int) {
        var capacity = columns[0].size
        if (size + more <= capacity) return
        while (size + more > capacity) capacity = maxOf(LEAST_CAPACITY, 2 * capacity)
        for (i in columns.indices) columns[i] = columns[i].copyOf(capacity)
    }

    /** Takes the rows of [other], which is not used any more. */
    protected fun take(other: IntColumns) {
        other.columns.copyInto(columns)
        size = other.size
    }

    private companion object {
        const val LEAST_CAPACITY = 16
    }
}
