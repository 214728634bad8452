package org.mobilekit.core.check

import org.junit.Test
import org.mobilekit.core.EngineException
import org.mobilekit.core.FakeEngine
import org.mobilekit.core.FakeTokenizer
import org.mobilekit.core.answer.TextModel
import org.mobilekit.core.fakeModel
import org.mobilekit.core.goldenOutput
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.text.Encoding
import org.mobilekit.core.text.Tokenizer
import org.mobilekit.core.text.Truncation
import java.util.concurrent.CancellationException
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class SelfCheckTest {
    private fun logits(
        one: Float,
        other: Float,
    ): Map<String, FloatArray> = mapOf("logits" to floatArrayOf(one, other))

    private fun failing(engine: FakeEngine): List<String> =
        selfCheck(fakeModel(engine)).rows.filterNot { it.passed }.map { it.name }

    @Test
    fun `a model that works passes every check`() {
        val engine = FakeEngine()
        val result = selfCheck(fakeModel(engine))
        assertTrue(result.passed, "$result")
        assertEquals(listOf("tokenizer", "output", "padding", "constant"), result.rows.map { it.name })
        assertTrue(result.said.startsWith("output: 1.00000") && result.said.length < 300, result.said)
        // The first at 8, 16 and 16 with other tokens; the second fills most of 16.
        assertEquals(listOf(8, 16, 16, 16, 16), engine.runs.map { it.first }.sorted())
    }

    /** A model whose tokenizer's encodings are [changed]. */
    private fun encoding(changed: (Encoding) -> Encoding): TextModel {
        val model = fakeModel(FakeEngine())
        val tokenizer =
            object : Tokenizer by FakeTokenizer() {
                override fun encode(
                    text: String,
                    pair: String?,
                    limit: Int,
                    truncation: Truncation,
                ): Encoding = changed(model.tokenizer.encode(text, pair, limit, truncation))
            }
        return TextModel(model.artifact, tokenizer, model.engine)
    }

    @Test
    fun `the same ids of other types fail`() {
        val other =
            encoding {
                val types = IntArray(it.size) { 1 }
                Encoding(it.ids, types, it.starts, it.ends, it.words, it.sequences, it.truncated)
            }
        assertEquals(listOf("tokenizer"), selfCheck(other).rows.filterNot { it.passed }.map { it.name })
    }

    @Test
    fun `a check that runs out of memory failed, and the others are told`() {
        val rows = selfCheck(encoding { throw OutOfMemoryError("none") }).rows
        assertEquals(listOf(false, true, true, true), rows.map { it.passed })
        assertTrue("not enough memory" in rows.first().measured, rows.first().measured)
    }

    @Test
    fun `other outputs than golden ones fail`() {
        val other = FakeEngine { length, inputs -> goldenOutput(length, inputs).mapValues { it.value.reversedArray() } }
        assertEquals(listOf("output"), failing(other))
    }

    @Test
    fun `an output that changes with longer padding fails, unless by less than the limit`() {
        fun engine(by: Float) =
            FakeEngine { length, inputs ->
                val shift = if (length == 16 && inputs.getValue(Manifest.ATTENTION_MASK).sum() == 4) by else 0f
                goldenOutput(length, inputs).mapValues { (_, it) -> floatArrayOf(it[0] + shift, it[1]) }
            }
        assertEquals(emptyList(), failing(engine(0.004f)))
        assertEquals(listOf("padding"), failing(engine(0.006f)))
        assertEquals(listOf("padding"), failing(engine(-2f)))
    }

    @Test
    fun `a graph that sees what stands in padded places fails`() {
        val seeing =
            FakeEngine { length, inputs ->
                val shift = inputs.getValue(Manifest.INPUT_IDS).last() / 10f
                goldenOutput(length, inputs).mapValues { (_, it) -> floatArrayOf(it[0] + shift, it[1]) }
            }
        assertEquals(listOf("padding"), failing(seeing))
    }

    @Test
    fun `the same output for everything fails`() {
        assertTrue("constant" in failing(FakeEngine { _, _ -> logits(0.25f, -0.5f) }))
    }

    @Test
    fun `outputs that are no numbers fail, and say so`() {
        val result = selfCheck(fakeModel(FakeEngine { _, _ -> logits(Float.NaN, 1f) }))
        assertEquals(listOf("output", "padding", "constant"), result.rows.filterNot { it.passed }.map { it.name })
        assertTrue("not finite" in result.said, result.said)
    }

    @Test
    fun `an engine that fails is rows with its message, not an exception`() {
        val result = selfCheck(fakeModel(FakeEngine { _, _ -> throw EngineException("no memory") }))
        assertEquals(3, result.rows.count { it.measured == "error: no memory" })
        val odd = selfCheck(fakeModel(FakeEngine { _, _ -> throw IllegalStateException("odd") }))
        assertEquals(3, odd.rows.count { it.measured == "error: odd" })
    }

    @Test
    fun `a tokenizer that gives other ids fails`() {
        val other =
            encoding {
                val ids = IntArray(it.size) { place -> it.ids[place] + 1 }
                Encoding(ids, it.typeIds, it.starts, it.ends, it.words, it.sequences, it.truncated)
            }
        val rows = selfCheck(other).rows
        assertEquals(listOf("tokenizer" to "2 differ"), rows.filterNot { it.passed }.map { it.name to it.measured })
    }

    @Test
    fun `it can be cancelled before every run`() {
        var asked = 0
        selfCheck(fakeModel()) { false.also { asked++ } }
        for (last in 0 until asked) {
            var times = 0
            assertFailsWith<CancellationException> { selfCheck(fakeModel()) { times++ == last } }
        }
    }
}
