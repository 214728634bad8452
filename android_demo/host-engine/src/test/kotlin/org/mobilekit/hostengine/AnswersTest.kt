package org.mobilekit.hostengine

import org.junit.Test
import org.junit.runner.RunWith
import org.junit.runners.Parameterized
import org.mobilekit.core.answer.Answer
import org.mobilekit.core.answer.Item
import org.mobilekit.core.answer.TextModel
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.text.TokenizerReader
import kotlin.math.abs
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** From text to answer, every artifact does what `mobilekit run` does with it. */
@RunWith(Parameterized::class)
class AnswersTest(
    private val name: String,
) {
    private val vectors = ModelVectors.named(name)
    private val tokenizer = TokenizerReader.read(vectors.artifact.tokenizerFile)

    @Test
    fun `inputs and answers are Python's`() {
        val engine = ReplayedEngine(vectors.artifact.manifest)
        val model = TextModel(vectors.artifact, tokenizer, engine)
        for (run in vectors.runs) {
            engine.run = run
            val answer = model.answer(run.text, run.pair)
            hold(run, answer, DIGITS)
            assertEquals(run.items.map(::place), answer.items.map(::place), "$name, '${run.text}'")
        }
    }

    /** Where two items are as good as each other, the last digits decide which is first. */
    @Test
    fun `answers of this machine's engine are Python's, but for ties`() {
        var ties = 0
        TextModel(vectors.artifact, tokenizer, HostLiteRtLibrary().open(vectors.artifact, 1)).use { model ->
            for (run in vectors.runs) {
                val answer = model.answer(run.text, run.pair)
                // Of two labels as good as each other one may join an entity that the other ends.
                if (run.items.size == answer.items.size) hold(run, answer, TIE)
                if (run.items.map(::place) != answer.items.map(::place)) ties++
            }
        }
        assertTrue(ties <= MOST_TIES, "$name: $ties of ${vectors.runs.size} answers are others")
    }

    private fun hold(
        run: ModelVectors.Run,
        answer: Answer,
        tolerance: Double,
    ) {
        val about = "$name, '${run.text}'"
        assertEquals(run.tokens, answer.tokens, about)
        assertEquals(run.truncated, answer.truncated, about)
        assertEquals(run.items.size, answer.items.size, about)
        for ((wanted, found) in run.items.zip(answer.items)) {
            assertTrue(abs(wanted.score - found.score) <= tolerance, "$about: $found, not $wanted")
        }
    }

    private fun place(item: Item) = listOf(item.label, item.text, item.start, item.end, item.chosen)

    /** Gives what Python's engine gave, where it is given what Python's was. */
    private class ReplayedEngine(
        private val manifest: Manifest,
    ) : Engine {
        lateinit var run: ModelVectors.Run

        override fun run(
            length: Int,
            inputs: Map<String, IntArray>,
        ): Map<String, FloatArray> {
            assertEquals(run.length, length)
            assertEquals(run.inputs.keys, inputs.keys)
            for ((name, values) in run.inputs) {
                assertContentEquals(values, inputs.getValue(name), "$name of '${run.text}'")
            }
            return manifest.outputs.associate { it.name to run.output.copyOf(it.size(length)) }
        }

        override fun close() = Unit
    }

    companion object {
        private const val DIGITS = 1e-6

        /** Of probabilities; the engine's outputs are as far apart as `ParityTest` says. */
        private const val TIE = 0.02
        private const val MOST_TIES = 3

        @JvmStatic
        @Parameterized.Parameters(name = "{0}")
        fun names(): List<String> = ModelVectors.names
    }
}
