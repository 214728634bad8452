package org.mobilekit.core.answer

import org.junit.Test
import org.mobilekit.core.ArtifactException
import org.mobilekit.core.EngineException
import org.mobilekit.core.FakeEngine
import org.mobilekit.core.FakeTokenizer
import org.mobilekit.core.InputException
import org.mobilekit.core.Vectors
import org.mobilekit.core.fakeModel
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifestOf
import org.mobilekit.core.plainManifest
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class TextModelTest {
    private val inputs = Vectors.listOf<Map<String, Any?>>(plainManifest["inputs"])
    private val tokenizer = Vectors.objectOf(plainManifest["tokenizer"])
    private val golden = Vectors.listOf<Map<String, Any?>>(plainManifest["golden"])

    private fun output(
        name: String,
        vararg shape: Any,
    ): Pair<String, Any?> =
        "outputs" to listOf(mapOf("name" to name, "dtype" to "float32", "shape" to shape.toList(), "meaning" to ""))

    private val embedder =
        manifestOf(
            "task" to "sentence-embedding",
            "labels" to emptyList<String>(),
            "problem_type" to null,
            output("embedding", 1L, 2L),
        )
    private val filler =
        manifestOf(
            "task" to "fill-mask",
            "labels" to emptyList<String>(),
            "problem_type" to null,
            "inputs" to inputs + (inputs[0] + ("name" to "predict_mask")),
            output("logits", 1L, 40L),
            "golden" to listOf(golden[0] + mapOf("predict" to 1L, "columns" to listOf(0L, 1L))),
        )
    private val asker =
        manifestOf(
            "task" to "question-answering",
            "labels" to listOf("start", "end"),
            "problem_type" to null,
            output("logits", 1L, "length", 2L),
            "golden" to listOf(golden[0] + mapOf("rows" to listOf(0L))),
        )

    @Test
    fun `a text goes through the smallest length that holds it, padded`() {
        val engine = FakeEngine()
        val padded = manifestOf("tokenizer" to tokenizer + mapOf("pad_id" to 9L))
        val answer = fakeModel(engine, padded).answer("x")
        val (length, given) = engine.runs.single()
        assertEquals(8, length)
        assertContentEquals(intArrayOf(2, 5, 6, 3, 9, 9, 9, 9), given[Manifest.INPUT_IDS])
        assertContentEquals(intArrayOf(1, 1, 1, 1, 0, 0, 0, 0), given[Manifest.ATTENTION_MASK])
        assertContentEquals(IntArray(8), given[Manifest.TOKEN_TYPE_IDS])
        assertEquals(listOf("negative" to true, "positive" to false), answer.items.map { it.label to it.chosen })
        assertContentEquals(floatArrayOf(0.25f, -0.5f), answer.output)
        assertEquals(4 to false, answer.tokens to answer.truncated)
        fakeModel(engine).answer("x y")
        assertEquals(16, engine.runs.last().first)
    }

    @Test
    fun `a pair has its token types`() {
        val engine = FakeEngine()
        fakeModel(engine).answer("a", "b")
        assertContentEquals(intArrayOf(0, 0, 1, 0, 0, 0, 0, 0), engine.runs.single().second[Manifest.TOKEN_TYPE_IDS])
    }

    @Test
    fun `a long text is cut to the longest length, and says so`() {
        val answer = fakeModel().answer("a ".repeat(50_000))
        assertEquals(16 to true, answer.tokens to answer.truncated)
    }

    @Test
    fun `a prefix goes before every text, and places are those of the text`() {
        val tagger =
            manifestOf(
                "task" to "token-classification",
                "labels" to listOf("O", "B-X"),
                "problem_type" to null,
                output("logits", 1L, "length", 2L),
                "golden" to listOf(golden[0] + mapOf("rows" to listOf(0L))),
                "tokenizer" to tokenizer + mapOf("prefix" to "query: "),
            )
        val engine = FakeEngine { length, _ -> mapOf("logits" to FloatArray(2 * length) { it % 2f }) }
        val answer = fakeModel(engine, tagger).answer("é b")
        assertEquals(listOf("é" to 0, "b" to 2), answer.items.map { it.text to it.start })
        assertEquals(2 * answer.tokens, answer.output.size)
    }

    @Test
    fun `a question is answered about the context`() {
        val engine =
            FakeEngine { length, _ -> mapOf("logits" to FloatArray(2 * length) { if (it / 2 == 4) 9f else 0f }) }
        val answer = fakeModel(engine, asker).answer("who ?", "no 😀 one")
        assertEquals(Item("answer", answer.items[0].score, "😀", 3, 5, true), answer.items[0])
        assertTrue(answer.items.any { it.label == NO_ANSWER && !it.chosen })
    }

    @Test
    fun `each mask is asked for, and words take its place`() {
        val engine =
            FakeEngine { _, inputs ->
                val asked = inputs.getValue(Manifest.PREDICT_MASK).indexOf(1)
                mapOf("logits" to FloatArray(40) { if (it == asked || it == 39) 9f else 0f })
            }
        val answer = fakeModel(engine, filler, FakeTokenizer("[M]", 4)).answer("a [M] b [M]", count = 1)
        assertEquals(listOf("a t2 b [M]", "a [M] b t4"), answer.items.map { it.text })
        assertEquals(listOf(2 to 5, 8 to 11), answer.items.map { it.start to it.end })
        assertEquals(80, answer.output.size)
    }

    @Test
    fun `what a model does not take is told`() {
        val mask = FakeTokenizer("[M]", 4)
        val unpaired = manifestOf("tokenizer" to tokenizer + mapOf("pair_template" to emptyList<String>()))
        val told =
            listOf(
                fakeModel(manifest = unpaired) to "cannot tell a pair",
                fakeModel(manifest = embedder) to "embeds one text",
                fakeModel(manifest = filler, tokenizer = mask) to "takes one text, not a pair",
            )
        for ((model, part) in told) assertIn(part, assertFailsWith<InputException> { model.answer("a", "b") })
        assertIn("give the text", assertFailsWith<InputException> { fakeModel(manifest = asker).answer("a") })
        assertIn(
            "put [M] where",
            assertFailsWith<InputException> {
                fakeModel(manifest = filler, tokenizer = mask).answer("a")
            },
        )
        assertIn("no mask token", assertFailsWith<InputException> { fakeModel(manifest = filler).answer("a") })
        val cut = "a ".repeat(99) + "[M]"
        assertIn(
            "was cut",
            assertFailsWith<InputException> { fakeModel(manifest = filler, tokenizer = mask).answer(cut) },
        )
    }

    @Test
    fun `an output of another size or name, or that is no number, is told`() {
        val wrong = listOf(mapOf("logits" to FloatArray(3)), mapOf("other" to FloatArray(2)), emptyMap())
        for (outputs in wrong) {
            assertFailsWith<ArtifactException> {
                fakeModel(
                    FakeEngine {
                        _,
                        _,
                        ->
                        outputs
                    },
                ).answer("x")
            }
        }
        for (value in listOf(Float.NaN, Float.POSITIVE_INFINITY)) {
            val engine = FakeEngine { _, _ -> mapOf("logits" to floatArrayOf(0f, value)) }
            assertIn("not finite", assertFailsWith<EngineException> { fakeModel(engine).answer("x") })
        }
    }

    @Test
    fun `no memory becomes a message`() {
        val engine = FakeEngine { _, _ -> throw OutOfMemoryError() }
        assertIn("memory", assertFailsWith<EngineException> { fakeModel(engine).answer("x") })
    }

    @Test
    fun `closing closes the engine`() {
        val engine = FakeEngine()
        fakeModel(engine).close()
        assertEquals(1, engine.closed)
    }

    private fun assertIn(
        part: String,
        error: Throwable,
    ) = assertTrue(part in error.message.orEmpty() && '\n' !in error.message.orEmpty(), error.message)
}
