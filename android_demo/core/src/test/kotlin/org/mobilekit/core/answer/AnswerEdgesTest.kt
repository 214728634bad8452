package org.mobilekit.core.answer

import org.junit.Test
import org.mobilekit.core.manifest.ProblemType
import org.mobilekit.core.text.Encoding
import kotlin.test.assertEquals
import kotlin.test.assertNotEquals

class AnswerEdgesTest {
    /** Texts of one letter a word: [sequence] of all but the first token, which is special. */
    private fun letters(
        count: Int,
        sequence: Int,
    ): Encoding {
        val places = IntArray(count + 1) { maxOf(0, it - 1) }
        val ends = IntArray(count + 1) { it }
        val words = IntArray(count + 1) { it - 1 }
        val sequences = IntArray(count + 1) { if (it == 0) -1 else sequence }
        return Encoding(IntArray(count + 1), IntArray(count + 1), places, ends, words, sequences, false)
    }

    /** Logits whose best value is [best]'s, row by row. */
    private fun rows(
        labels: Int,
        vararg best: Int,
    ): FloatArray = FloatArray(labels * best.size) { if (it % labels == best[it / labels]) 9f else 0f }

    @Test
    fun `an output of zeros has the cosine 0 with all, itself too`() {
        val found = cosines(listOf(floatArrayOf(0f, 0f), floatArrayOf(3f, 4f)))
        assertEquals(listOf(listOf(0.0, 0.0), listOf(0.0, 1.0)), found.map { row -> row.map { it + 0.0 } })
    }

    @Test
    fun `a label is chosen from the threshold on, not only over it`() {
        val found = decodeLabels(floatArrayOf(0f, -0.01f), listOf("at", "below"), ProblemType.MULTI_LABEL, 0.5)
        assertEquals(listOf("at" to true, "below" to false), found.map { it.label to it.chosen })
    }

    @Test
    fun `values of 0 and -0 keep the order of their labels`() {
        val found = decodeLabels(floatArrayOf(-0f, 0f), listOf("first", "second"), ProblemType.REGRESSION, 0.5)
        assertEquals(listOf("first", "second"), found.map { it.label })
    }

    @Test
    fun `what ends an entity, or is one on its own, has nothing behind it`() {
        for (prefix in listOf("E", "L", "S", "U")) {
            val labels = listOf("O", "$prefix-X", "I-X")
            val found = decodeEntities(rows(3, 0, 1, 2), labels, letters(2, 0), "ab", 0)
            assertEquals(listOf("a", "b"), found.map { it.text }, prefix)
        }
        val goesOn = decodeEntities(rows(3, 0, 1, 2), listOf("O", "B-X", "I-X"), letters(2, 0), "ab", 0)
        assertEquals(listOf("ab"), goesOn.map { it.text })
    }

    @Test
    fun `a span has 30 tokens at most`() {
        fun best(last: Int): Int {
            val logits = FloatArray(2 * 41)
            logits[2] = 20f
            logits[2 * last + 1] = 20f
            val best = decodeSpans(logits, letters(40, 1), "x".repeat(40), 1).first()
            return best.text.orEmpty().length
        }
        assertEquals(30, best(30))
        assertNotEquals(31, best(31))
    }

    @Test
    fun `an empty context has no answer`() {
        val found = decodeSpans(floatArrayOf(1f, 1f), letters(0, 1), "", 3)
        assertEquals(listOf(NO_ANSWER to true), found.map { it.label to it.chosen })
    }
}
