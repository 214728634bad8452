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
            for (point in content) {
                if (to > 0) made.add(point, text.starts[to - 1], text.ends[to - 1]) else made.add(point, text.origin, text.origin)
            }
            last = to
        }
        if (last == 0 && made.size == 0) return
        made.addAll(text, last, text.size)
        text.replaceBy(made)
    }
}
