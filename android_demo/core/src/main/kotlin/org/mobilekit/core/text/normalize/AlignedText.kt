package org.mobilekit.core.text.normalize

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.text.IntColumns

/**
 * A text while it is normalised: code points, and for each the part of the original text that it came from.
 *
 * The first [size] of [points], [starts] and [ends] count; the latter two are in code points of the original. [origin] is
 * where this part of the original begins.
 */
internal class AlignedText(
    capacity: Int,
    val origin: Int = 0,
) : IntColumns(3, capacity) {
    val points: IntArray get() = column(0)
    val starts: IntArray get() = column(1)
    val ends: IntArray get() = column(2)

    fun add(
        point: Int,
        start: Int,
        end: Int,
    ) {
        reserve(1)
        points[size] = point
        starts[size] = start
        ends[size] = end
        size++
    }

    /** Adds the characters [from] until [to] of [other]. */
    fun addAll(
        other: AlignedText,
        from: Int,
        to: Int,
    ) {
        reserve(to - from)
        other.points.copyInto(points, size, from, to)
        other.starts.copyInto(starts, size, from, to)
        other.ends.copyInto(ends, size, from, to)
        size += to - from
    }

    /** Writes what [changes] say instead of this text, aligned as the reference library aligns it. */
    fun apply(changes: Changes) {
        // The library looks for the first character that came from something, and leaves what is before it as it is.
        var kept = 0
        while (kept < size && starts[kept] == ends[kept]) kept++
        val made = AlignedText(kept + changes.size, origin)
        made.addAll(this, 0, kept)
        var at = minOf(kept + changes.removedFirst, size)
        for (i in 0 until changes.size) {
            val change = changes.changes[i]
            val from = if (change > 0) at - 1 else at
            when {
                from < 0 -> made.add(changes.points[i], origin, origin)
                from < size -> made.add(changes.points[i], starts[from], ends[from])
                else -> throw ArtifactException("normalizer: it replaces more characters than there are.")
            }
            if (change <= 0) at += 1 - change
        }
        replaceBy(made)
    }

    fun replaceBy(other: AlignedText) = take(other)
}
