package org.mobilekit.core.text.normalize

import org.mobilekit.core.text.unicode.Unicode

/** Lower case, character by character: without a language, and without a look at the neighbours. */
internal object Lowercase : Normalizer {
    override fun normalize(text: AlignedText) {
        if (!text.any { Unicode.has(it, Unicode.CASED) }) return
        val changes = Changes(text.size)
        for (i in 0 until text.size) {
            val point = text.points[i]
            if (!Unicode.has(point, Unicode.CASED)) {
                changes.add(point, 0)
            } else {
                Unicode.lower(point).forEachIndexed { at, lower -> changes.add(lower, if (at > 0) 1 else 0) }
            }
        }
        text.apply(changes)
    }
}

/** Leaves out combining marks; letters that have one of their own stay as they are. */
internal object StripAccents : Normalizer {
    override fun normalize(text: AlignedText) = text.filter { !Unicode.has(it, Unicode.COMBINING) }
}

/** Puts [prefix] before a text that is not empty. */
internal class Prepend(
    private val prefix: IntArray,
) : Normalizer {
    override fun normalize(text: AlignedText) = text.prepend(prefix)
}

/** Takes white space off the begin, the end, or both. */
internal class Strip(
    private val left: Boolean,
    private val right: Boolean,
) : Normalizer {
    override fun normalize(text: AlignedText) {
        var first = 0
        var last = text.size
        if (left) while (first < last && Unicode.has(text.points[first], Unicode.WHITE)) first++
        if (right) while (last > first && Unicode.has(text.points[last - 1], Unicode.WHITE)) last--
        if (first == 0 && last == text.size) return
        val changes = Changes(last - first)
        changes.removedFirst = first
        for (i in first until last) changes.add(text.points[i], 0)
        text.apply(changes)
    }
}

/** Puts [prefix] before the first character, aligned to it. */
internal fun AlignedText.prepend(prefix: IntArray) {
    if (size == 0 || prefix.isEmpty()) return
    val made = AlignedText(size + prefix.size, origin)
    for (point in prefix) made.add(point, starts[0], ends[0])
    made.addAll(this, 0, size)
    replaceBy(made)
}
