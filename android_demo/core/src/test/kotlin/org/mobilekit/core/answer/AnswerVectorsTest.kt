package org.mobilekit.core.answer

import org.junit.Test
import org.mobilekit.core.Vectors
import org.mobilekit.core.manifest.ProblemType
import org.mobilekit.core.text.Encoding
import org.mobilekit.core.text.Tokenizer
import org.mobilekit.core.text.Truncation
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** Decoders against tests/android/answer_vectors.py. */
class AnswerVectorsTest {
    @Test
    fun `labels are Python's`() =
        each("labels") {
            val problem = ProblemType.entries.first { type -> type.id == it["problem"] }
            decodeLabels(floats(it["logits"]), texts(it["labels"]), problem, it["threshold"] as Double)
        }

    @Test
    fun `entities are Python's`() =
        each("entities") {
            val shift = (it["shift"] as Long).toInt()
            decodeEntities(floats(it["logits"]), texts(it["labels"]), encoding(it), it["text"] as String, shift)
        }

    @Test
    fun `spans are Python's`() =
        each("spans") {
            decodeSpans(floats(it["logits"]), encoding(it), it["context"] as String, (it["count"] as Long).toInt())
        }

    @Test
    fun `words are Python's`() =
        each("words") {
            val (start, end) = ints(it["place"]).toList()
            val tokenizer = Vocabulary(Vectors.listOf(it["tokens"]), Vectors.listOf(it["decoded"]))
            val count = (it["count"] as Long).toInt()
            decodeWords(floats(it["logits"]), tokenizer, it["text"] as String, start, end, count)
        }

    @Test
    fun `cosines are Python's`() {
        for (case in cases("cosines")) {
            val found = cosines(Vectors.listOf<Any>(case["outputs"]).map { floats(it) })
            Vectors.listOf<List<Number>>(case["cosines"]).forEachIndexed { i, row ->
                row.forEachIndexed { k, wanted -> assertEquals(wanted.toDouble(), found[i][k], 1e-9) }
            }
        }
    }

    private fun cases(name: String): List<Map<String, Any?>> =
        Vectors.read("answers.json").flatMap { Vectors.listOf<Map<String, Any?>>(it[name]) }.also {
            assertTrue(it.size >= 12)
        }

    private fun each(
        name: String,
        decode: (Map<String, Any?>) -> List<Item>,
    ) {
        for (case in cases(name)) {
            val wanted = Vectors.listOf<List<Any?>>(case["items"])
            val found = decode(case).map { listOf(it.label, it.text, it.start?.toLong(), it.end?.toLong(), it.chosen) }
            assertEquals(wanted.map { listOf(it[0], it[2], it[3], it[4], it[5]) }, found, "$case")
            decode(case).zip(wanted).forEach { (item, of) ->
                val score = (of[1] as Number).toDouble()
                assertEquals(score, item.score, 1e-9 * maxOf(1.0, Math.abs(score)), "$case")
            }
        }
    }

    private fun encoding(case: Map<String, Any?>): Encoding {
        val (words, sequences) = ints(case["words"]) to ints(case["sequences"])
        val places = Vectors.listOf<Any>(case["places"]).map { ints(it) }
        val (starts, ends) = listOf(0, 1).map { side -> IntArray(places.size) { places[it][side] } }
        return Encoding(IntArray(words.size), IntArray(words.size), starts, ends, words, sequences, false)
    }

    private fun floats(value: Any?): FloatArray = Vectors.listOf<Number>(value).map { it.toFloat() }.toFloatArray()

    private fun ints(value: Any?): IntArray = Vectors.listOf<Long>(value).map { it.toInt() }.toIntArray()

    private fun texts(value: Any?): List<String> = Vectors.listOf(value)
}

private class Vocabulary(
    private val tokens: List<String?>,
    private val decoded: List<String?>,
) : Tokenizer {
    override val maskToken = "[MASK]"
    override val maskId = 0

    override fun token(id: Int): String? = tokens[id]

    override fun decode(ids: IntArray): String = checkNotNull(decoded[ids.single()])

    override fun encode(
        text: String,
        pair: String?,
        limit: Int,
        truncation: Truncation,
    ): Encoding = error("not asked")
}
