package org.mobilekit.core.text.normalize

import org.mobilekit.core.text.pattern.Pattern

/** Writes [content] for every match, aligned to the last character of the match, or to the one before an empty one. */
internal class Replace(
    private val pattern: Pattern,
    private val content: IntArray,
) : Normalizer {
    override fun normalize(text: AlignedText) {
        if (text.size == 0) return
        val made = AlignedText(text.size, text.origin)
        var last = 0
        pattern.find(text.points, 0, text.size) { from, to ->
            made.addAll(text, last, from)
            val start = if (to > 0) text.starts[to - 1] else text.origin
            val end = if (to > 0) text.ends[to - 1] else text.origin
            for (point in content) made.add(point, start, end)
            last = to
        }
        if (last == 0 && made.size == 0) return
        made.addAll(text, last, text.size)
        text.replaceBy(made)
    }
}
