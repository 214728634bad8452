package org.mobilekit.core.text.unicode

import org.junit.Test
import org.mobilekit.core.text.normalize.codePointArray
import kotlin.test.assertEquals

class GraphemesTest {
    /** The clusters' lengths in characters. */
    private fun lengths(text: String): List<Int> {
        val points = text.codePointArray()
        val found = mutableListOf<Int>()
        var at = 0
        while (at < points.size) {
            val end = Graphemes.end(points, points.size, at)
            found += end - at
            at = end
        }
        return found
    }

    @Test
    fun `clusters end where the standard says`() {
        val cases =
            mapOf(
                "ab" to listOf(1, 1),
                "\r\n\n" to listOf(2, 1),
                "e\u0301\u0323x" to listOf(3, 1),
                "\u0001\u0301" to listOf(1, 1),
                "\u0600a" to listOf(2),
                "\u1100\u1161\u11A8\u11A8" to listOf(4),
                "\uAC00\u11A8\uAC01\u1161" to listOf(2, 1, 1),
                "\u0915\u094D\u0915" to listOf(3),
                "\u0915\u0301\u0915" to listOf(2, 1),
                "\u00A9\u200D\u00A9" to listOf(3),
                "\u00A9\u200D\u200D\u00A9" to listOf(3, 1),
                "a\u200D\u00A9" to listOf(2, 1),
                "\uD83C\uDDE7\uD83C\uDDF7\uD83C\uDDEF" to listOf(2, 1),
            )
        for ((text, expected) in cases) assertEquals(expected, lengths(text), text)
    }
}
