package org.mobilekit.demo.support

import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.engine.EngineLibrary
import org.mobilekit.core.engine.GuardedEngine
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifest.Task
import java.util.Random
import java.util.concurrent.atomic.AtomicInteger
import kotlin.math.sqrt

/** An engine whose answers follow from words, by tables made up here. [onOpen], [onRun], [onFree]: what else happens. */
class FakeLibrary : EngineLibrary {
    @Volatile
    var onOpen: () -> Unit = {}

    @Volatile
    var onRun: () -> Unit = {}

    @Volatile
    var onFree: () -> Unit = {}

    /** Of an output: what the engine makes of it. */
    @Volatile
    var spoil: (FloatArray) -> FloatArray = { it }

    /** How many engines are open now. */
    val open = AtomicInteger()

    override val name: String = "fake"
    override val version: String = "1.0"
    override val targets: Set<String> = setOf("tflite", "executorch")

    override fun open(
        artifact: Artifact,
        threads: Int,
    ): Engine {
        onOpen()
        open.incrementAndGet()
        return FakeEngine(artifact)
    }

    private inner class FakeEngine(
        private val artifact: Artifact,
    ) : GuardedEngine(artifact) {
        override fun invoke(
            entry: String,
            length: Int,
            inputs: Map<String, IntArray>,
        ): Map<String, FloatArray> {
            onRun()
            val ids = inputs.getValue(Manifest.INPUT_IDS)
            val mask = inputs.getValue(Manifest.ATTENTION_MASK)
            val manifest = artifact.manifest
            return mapOf(manifest.output.name to spoil(madeUp(manifest.task, ids, mask)))
        }

        override fun free() {
            open.decrementAndGet()
            onFree()
        }
    }

    companion object {
        /** The engine's output for a task; what is masked changes nothing. */
        fun madeUp(
            task: Task,
            ids: IntArray,
            mask: IntArray,
        ): FloatArray =
            when (task) {
                Task.SEQUENCE_CLASSIFICATION -> labels(ids.filterIndexed { i, _ -> mask[i] == 1 })
                Task.TOKEN_CLASSIFICATION -> rows(ids, mask, ::entity)
                Task.QUESTION_ANSWERING -> rows(ids, mask, ::span)
                Task.FILL_MASK -> words(ids.filterIndexed { i, _ -> mask[i] == 1 })
                Task.SENTENCE_EMBEDDING -> embedding(ids.filterIndexed { i, _ -> mask[i] == 1 })
            }

        val LABELS = listOf("negative", "positive")
        val ENTITIES = listOf("O", "B-PER", "I-PER", "B-LOC", "B-ORG")
        const val EMBEDDING = 32

        private fun labels(ids: List<Int>): FloatArray {
            val good = ids.sumOf { GOOD[it] ?: 0.0 }
            return floatArrayOf(-good.toFloat(), good.toFloat() + ids.size % 3 / 10f)
        }

        private fun entity(id: Int): FloatArray =
            FloatArray(ENTITIES.size) { label -> if ((ENTITY[id] ?: 0) == label) 4f + id % 5 / 4f else id % 7 / 10f }

        private fun span(id: Int): FloatArray = (SPAN[id] ?: -4f).let { floatArrayOf(it, it + 0.1f) }

        private fun words(ids: List<Int>): FloatArray =
            FloatArray(FakeTokenizer.SIZE) { FILLED[it] ?: (it % 11 / 10f + ids.size % 5 / 10f) }

        private fun embedding(ids: List<Int>): FloatArray {
            val sum = FloatArray(EMBEDDING)
            for (id in ids) {
                Random(id.toLong()).let { random ->
                    for (i in sum.indices) {
                        sum[i] +=
                            random.nextGaussian().toFloat()
                    }
                }
            }
            val norm = sqrt(sum.sumOf { it.toDouble() * it }).toFloat()
            return FloatArray(EMBEDDING) { sum[it] / norm }
        }

        private fun rows(
            ids: IntArray,
            mask: IntArray,
            row: (Int) -> FloatArray,
        ): FloatArray {
            val output = ids.indices.flatMap { i -> row(if (mask[i] == 1) ids[i] else 0).asList() }.toFloatArray()
            // The first token has seen all others, as in a model.
            output[0] += ids.filterIndexed { i, _ -> mask[i] == 1 }.sum() % 97 / 100f
            return output
        }

        private fun <T> table(vararg words: Pair<String, T>) =
            words.associate { (word, value) ->
                FakeTokenizer.id(word) to
                    value
            }

        private val GOOD = table("lovely" to 0.9, "fair" to 0.6, "terrible" to -1.5, "slow" to -0.8)
        private val ENTITY =
            table(
                "Ada" to 1,
                "Lovelace" to 2,
                "Charles" to 1,
                "Babbage" to 2,
                "London" to 3,
                "Berlin" to 3,
                "Siemens" to 4,
            )
        private val SPAN = table("five" to 4f, "eight" to 2.6f, "nine" to 1.9f)
        private val FILLED = table("window" to 6f, "door" to 5f, "curtains" to 4.2f, "book" to 2.5f, "oven" to 2f)
    }
}
