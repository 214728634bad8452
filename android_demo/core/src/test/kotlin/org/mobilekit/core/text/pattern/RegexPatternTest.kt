package org.mobilekit.core.text.pattern

import org.junit.Test
import org.mobilekit.core.ArtifactException
import org.mobilekit.core.text.normalize.codePointArray
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

class RegexPatternTest {
    private fun matches(
        expression: String,
        text: String,
    ): List<String> {
        val points = text.codePointArray()
        val found = mutableListOf<String>()
        RegexPattern(expression).find(points, 0, points.size) { from, to -> found += "$from-$to" }
        return found
    }

    @Test
    fun `the first and longest repetition is found, again and again`() {
        assertEquals(listOf("1-3", "4-7"), matches(" {2,}", "a  b   c "))
        assertEquals(listOf("0-2", "3-4"), matches("[a-c]{1,2}", "ab-c"))
        assertEquals(listOf("0-3"), matches("a*ab", "aab"))
    }

    @Test
    fun `an empty match is left out where the last one ended`() {
        assertEquals(listOf("0-1", "2-2", "3-3"), matches("a|(?=b)", "abbb"))
        assertEquals(listOf("0-0", "1-1"), matches("x*", "a"))
    }

    @Test
    fun `looks see what is around, and nothing outside of the part that is searched`() {
        assertEquals(listOf("1-1"), matches("(?<=a)(?=b)", "abba"))
        assertEquals(listOf("0-1", "3-4"), matches("(?<!a)b", "babb"))
        assertEquals(listOf("2-3"), matches("[^\\x{61}-\\x{62}]", "abc"))
        val points = "xab".codePointArray()
        RegexPattern("(?<=x)a").find(points, 1, 3) { _, _ -> error("it looked outside") }
    }

    @Test
    fun `properties are those of the tables`() {
        assertEquals(listOf("1-2"), matches("\\p{M}", "e\u0301"))
        assertEquals(listOf("0-1", "2-4"), matches("[^\\s\\p{L}]+", "1a23"))
        assertEquals(listOf("0-1"), matches("\\P{N}", "\uD835\uDD4F1"))
    }

    @Test
    fun `what is not supported is named`() {
        val cases =
            mapOf(
                "a++" to "'+' after a quantifier",
                "(a|b)*" to "a quantifier after a group",
                "(?<=a*)b" to "a look behind",
                "(?>a)" to "'(?>'",
                "a$" to "'$'",
                "\\d" to "'\\d'",
                "[a&&b]" to "'&' in a class",
                "[z-a]" to "ends before it begins",
                "[a" to "does not end",
                "(a" to "does not end",
                "a)" to "')'",
                "\\x{110000}" to "the number",
                "\\p{Lu}" to "the property",
                "a{3,1}" to "the counts",
                "a".repeat(1000) to "more than 128 parts",
                "(".repeat(1000) to "groups",
                "\\" to "at the end",
            )
        for ((expression, message) in cases) {
            val error = assertFailsWith<ArtifactException>(expression) { RegexPattern(expression) }
            assertContains(error.message.orEmpty(), message)
        }
    }

    @Test
    fun `an expression that takes too long ends with an error`() {
        val slow = "a*".repeat(12) + "b"
        val error = assertFailsWith<ArtifactException> { matches(slow, "a".repeat(60)) }
        assertContains(error.message.orEmpty(), "takes too long")
    }
}
