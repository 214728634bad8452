package org.mobilekit.core.text.unicode

/** What some characters are written as; [points] are sorted. */
internal class PointMap private constructor(
    val points: IntArray,
    private val texts: Array<IntArray>,
) {
    operator fun get(point: Int): IntArray? {
        val at = points.binarySearch(point)
        return if (at >= 0) texts[at] else null
    }

    companion object {
        /** [entries] are sorted. */
        fun of(entries: List<Pair<Int, IntArray>>): PointMap =
            PointMap(IntArray(entries.size) { entries[it].first }, Array(entries.size) { entries[it].second })
    }
}

/** Characters by the two that compose to each. */
internal class Compositions(
    parts: PointMap,
) {
    private val keys: LongArray
    private val made: IntArray

    init {
        val entries = parts.points.map { point -> checkNotNull(parts[point]).let { key(it[0], it[1]) } to point }
        val sorted = entries.sortedBy { it.first }
        keys = LongArray(sorted.size) { sorted[it].first }
        made = IntArray(sorted.size) { sorted[it].second }
    }

    /** The character that two compose to, or -1. */
    fun find(
        first: Int,
        second: Int,
    ): Int {
        val at = keys.binarySearch(key(first, second))
        return if (at >= 0) made[at] else -1
    }

    private fun key(
        first: Int,
        second: Int,
    ): Long = first.toLong() shl POINT_BITS or second.toLong()

    private companion object {
        const val POINT_BITS = 21
    }
}
