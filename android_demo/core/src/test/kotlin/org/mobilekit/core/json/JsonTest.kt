package org.mobilekit.core.json

import org.junit.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

class JsonTest {
    @Test
    fun `values are read as Python reads them`() {
        val text = """ {"a":[1, -0, 2.50, 1e2, 12345678901234567890,true,null],"a\u00e9\n":"x\ud83d\ude00\/", "b":{}}"""
        val wanted =
            mapOf(
                "a" to listOf(1L, 0L, 2.5, 100.0, 12345678901234567890.0, true, null),
                "aé\n" to "x😀/",
                "b" to mapOf<String, Any?>(),
            )
        assertEquals(wanted, JsonParser(text).parse())
        assertEquals(
            listOf(Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY),
            JsonParser("[Infinity, -Infinity]").parse(),
        )
        assertEquals(mapOf("a" to 2L), JsonParser("""{"a": 1, "a": 2}""").parse())
        assertEquals(true, (JsonParser("NaN").parse() as Double).isNaN())
    }

    @Test
    fun `what is no JSON is refused`() {
        val wrong =
            listOf(
                "",
                " ",
                "{",
                "[",
                "[1,]",
                "{\"a\":1,}",
                "{a: 1}",
                "01",
                "1.",
                ".5",
                "+1",
                "-",
                "1e",
                "tru",
                "nul",
                "nan",
            ) +
                listOf(
                    "'a'",
                    "\"a",
                    "\"\n\"",
                    "\"\\x\"",
                    "\"\\u12g4\"",
                    "\"\\u+123\"",
                    "\"\\ud800\"",
                    "\"\\ude00x\"",
                    "1 2",
                ) +
                listOf(
                    "[1 2]",
                    "{\"a\" 1}",
                    "\u00a01",
                    "\ufeff1",
                    "\"\u0000\"",
                    "[".repeat(502) + "]".repeat(502),
                    "1\u0000",
                )
        for (text in wrong) assertFailsWith<JsonException>(text.take(20)) { JsonParser(text).parse() }
        JsonParser("[".repeat(501) + "]".repeat(501)).parse()
    }

    @Test
    fun `what is written is read again, sorted and indented as Python writes it`() {
        val value = mapOf("b" to listOf(1L, 2.5, null, true), "a" to mapOf("é\"\\\n\u0001" to emptyList<Any?>()))
        val text = "{\n \"a\": {\n  \"é\\\"\\\\\\n\\u0001\": []\n },\n \"b\": [\n  1,\n  2.5,\n  null,\n  true\n ]\n}\n"
        assertEquals(text, jsonText(value))
        assertEquals(value, JsonParser(text).parse())
        assertFailsWith<IllegalArgumentException> { jsonText(Double.NaN) }
    }
}
