package org.mobilekit.core.text.pattern

import org.mobilekit.core.text.unicode.Unicode

/** Characters of ranges or with a property; [ranges] are pairs of code points, first and last. */
internal class CharacterSet(
    ranges: List<IntRange>,
    private val properties: Int,
    private val lacking: List<Int>,
    private val negated: Boolean,
) {
    private val firsts: IntArray
    private val lasts: IntArray

    init {
        val merged = mutableListOf<IntRange>()
        for (range in ranges.sortedBy { it.first }) {
            val before = merged.lastOrNull()
            if (before != null && range.first <= before.last + 1) {
                merged[merged.lastIndex] = before.first..maxOf(before.last, range.last)
            } else {
                merged += range
            }
        }
        firsts = IntArray(merged.size) { merged[it].first }
        lasts = IntArray(merged.size) { merged[it].last }
    }

    /** Of the first characters, which most texts are made of. */
    private val first = BooleanArray(FIRST) { listed(it) != negated }

    fun has(point: Int): Boolean = if (point < FIRST) first[point] else listed(point) != negated

    private fun listed(point: Int): Boolean {
        if (properties != 0 && Unicode.has(point, properties)) return true
        if (lacking.any { !Unicode.has(point, it) }) return true
        val at = firsts.binarySearch(point)
        return at >= 0 || (at != -1 && point <= lasts[-at - 2])
    }

    private companion object {
        const val FIRST = 0x300
    }
}
