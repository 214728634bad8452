package org.mobilekit.core.text.normalize

import org.mobilekit.core.text.unicode.Hangul
import org.mobilekit.core.text.unicode.Unicode

/**
 * NFD, NFC, NFKD and NFKC (Unicode Standard Annex 15), by the tables of the reference library.
 *
 * What comes of one character is aligned to it as there: sorting takes the marks' changes along, and a composed
 * character takes in those that it is composed of.
 */
internal class CanonicalForm(
    private val compatible: Boolean,
    private val composed: Boolean,
) : Normalizer {
    private val decomposes = if (compatible) Unicode.DECOMPOSES_COMPATIBLY else Unicode.DECOMPOSES
    private val concerned = decomposes or Unicode.SORTED

    override fun normalize(text: AlignedText) {
        // Without either, composing could still join two that stand apart, as the halves of a Hangul syllable.
        val least = if (composed) FIRST_COMPOSING else Int.MAX_VALUE
        if (!text.any { it >= least || Unicode.has(it, concerned) }) return
        val decomposed = decompose(text)
        text.apply(if (composed) Composer(decomposed).compose() else decomposed)
    }

    private fun decompose(text: AlignedText): Changes {
        val changes = Changes(text.size + text.size / 2)
        var unsorted = 0
        var marks = false
        for (i in 0 until text.size) {
            val first = changes.size
            decompose(text.points[i], changes)
            for (at in first until changes.size) {
                if (!Unicode.has(changes.points[at], Unicode.SORTED)) {
                    if (marks) sort(changes, unsorted, at)
                    unsorted = at + 1
                    marks = false
                } else {
                    marks = true
                }
            }
        }
        if (marks) sort(changes, unsorted, changes.size)
        return changes
    }

    private fun decompose(
        point: Int,
        changes: Changes,
    ) {
        if (!Unicode.has(point, decomposes)) return changes.add(point, 0)
        val parts = Hangul.decompose(point) ?: Unicode.decomposition(point, compatible)
        parts?.forEachIndexed { i, part -> changes.add(part, if (i > 0) 1 else 0) } ?: changes.add(point, 0)
    }

    /** Sorts marks by their combining class, those of one class as they were. */
    private fun sort(
        changes: Changes,
        from: Int,
        to: Int,
    ) {
        if (to - from < 2) return
        val order = (from until to).sortedBy { Unicode.combiningClass(changes.points[it]) }
        val points = IntArray(order.size) { changes.points[order[it]] }
        val moved = IntArray(order.size) { changes.changes[order[it]] }
        points.copyInto(changes.points, from)
        moved.copyInto(changes.changes, from)
    }

    private companion object {
        const val FIRST_COMPOSING = 0x300
    }
}

/** Composes what was decomposed: each mark with the character before it, unless another of its class is between. */
private class Composer(
    private val source: Changes,
) {
    private val made = Changes(source.size)
    private val waiting = Changes(0)
    private var starter = NONE
    private var starterChange = 0
    private var lastClass = NONE

    fun compose(): Changes {
        for (i in 0 until source.size) add(source.points[i], source.changes[i])
        flush()
        return made
    }

    private fun add(
        point: Int,
        change: Int,
    ) {
        val combiningClass = Unicode.combiningClass(point)
        if (starter == NONE) {
            if (combiningClass != 0) return made.add(point, change)
            return begin(point, change)
        }
        val free = lastClass == NONE || lastClass < combiningClass
        val whole = if (free) composition(starter, point) else NONE
        when {
            whole != NONE -> {
                starter = whole
                starterChange += change - 1
            }

            combiningClass == 0 -> {
                flush()
                begin(point, change)
            }

            else -> {
                waiting.add(point, change)
                lastClass = combiningClass
            }
        }
    }

    private fun begin(
        point: Int,
        change: Int,
    ) {
        starter = point
        starterChange = change
        lastClass = NONE
    }

    private fun flush() {
        if (starter != NONE) made.add(starter, starterChange)
        for (i in 0 until waiting.size) made.add(waiting.points[i], waiting.changes[i])
        waiting.clear()
        starter = NONE
        lastClass = NONE
    }

    private fun composition(
        first: Int,
        second: Int,
    ): Int = Hangul.compose(first, second).takeIf { it != NONE } ?: Unicode.composition(first, second)

    private companion object {
        const val NONE = -1
    }
}
