package org.mobilekit.core.text.pattern

/** What `Replace` and `Split` look for. Positions are in code points. */
internal interface Pattern {
    /**
     * Calls [found] with the begin and end of each match in the characters [from] until [to], from left to right.
     *
     * The characters outside are not looked at. A match may be empty.
     */
    fun find(
        points: IntArray,
        from: Int,
        to: Int,
        found: (Int, Int) -> Unit,
    )
}

/** Some text as it is. */
internal class LiteralPattern(
    private val text: IntArray,
) : Pattern {
    override fun find(
        points: IntArray,
        from: Int,
        to: Int,
        found: (Int, Int) -> Unit,
    ) {
        var at = from
        while (at + text.size <= to) {
            if (isAt(points, at)) {
                found(at, at + text.size)
                at += text.size
            } else {
                at++
            }
        }
    }

    private fun isAt(
        points: IntArray,
        at: Int,
    ): Boolean {
        for (i in text.indices) if (points[at + i] != text[i]) return false
        return true
    }
}
