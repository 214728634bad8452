package org.mobilekit.core

import org.mobilekit.core.answer.TextModel
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.engine.EngineLibrary
import org.mobilekit.core.json.JsonParser
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifest.readManifest
import org.mobilekit.core.text.Encoding
import org.mobilekit.core.text.Tokenizer
import org.mobilekit.core.text.Truncation
import java.io.File

/** A manifest's values: a classifier of "negative" and "positive", with lengths 8 and 16, and two golden inputs. */
val plainManifest: Map<String, Any?> by lazy {
    val bases = Vectors.listOf<String>(Vectors.read("manifests.json").first()["bases"])
    Vectors.objectOf(JsonParser(bases.first()).parse())
}

fun manifestOf(vararg changes: Pair<String, Any?>): Manifest = readManifest(plainManifest + changes)

/** What the plain manifest's golden outputs are of: logits by the first token behind the first one, and the last. */
class FakeEngine(
    private val output: (length: Int, inputs: Map<String, IntArray>) -> Map<String, FloatArray> = ::goldenOutput,
) : Engine {
    val runs = mutableListOf<Pair<Int, Map<String, IntArray>>>()
    var closed = 0

    override fun run(
        length: Int,
        inputs: Map<String, IntArray>,
    ): Map<String, FloatArray> {
        if (closed > 0) throw EngineException("closed")
        runs += length to inputs.mapValues { it.value.copyOf() }
        return output(length, inputs)
    }

    override fun close() {
        closed++
    }
}

/** The golden outputs for the golden inputs; else something by the number of real tokens. */
fun goldenOutput(
    length: Int,
    inputs: Map<String, IntArray>,
): Map<String, FloatArray> {
    check(inputs.values.all { it.size == length })
    val real = inputs.getValue(Manifest.ATTENTION_MASK).sum()
    val logits = if (real == 4) floatArrayOf(0.25f, -0.5f) else floatArrayOf(real / 20f, -real / 40f)
    return mapOf("logits" to logits)
}

class FakeLibrary(
    override val name: String = "litert",
    private val make: (Artifact) -> Engine = { FakeEngine() },
) : EngineLibrary {
    override val version = "1.2.3"
    override val targets = setOf("tflite")
    val opened = mutableListOf<Engine>()

    override fun open(
        artifact: Artifact,
        threads: Int,
    ): Engine = make(artifact).also { opened += it }
}

/** Words at spaces; the ids of the plain manifest's golden texts, x and y, are those that it has. */
class FakeTokenizer(
    override val maskToken: String? = null,
    override val maskId: Int? = null,
) : Tokenizer {
    private val ids = mapOf("x" to listOf(5, 6), "y" to listOf(7, 8, 9, 10, 11, 12))

    override fun token(id: Int): String? = "t$id".takeIf { id < 30 }

    override fun decode(ids: IntArray): String = ids.joinToString(" ") { "t$it" }

    override fun encode(
        text: String,
        pair: String?,
        limit: Int,
        truncation: Truncation,
    ): Encoding {
        val tokens = mutableListOf(Token(2, 0, 0, -1, -1))
        listOfNotNull(text, pair).forEachIndexed { sequence, part ->
            var at = 0
            part.split(' ').filter { it.isNotEmpty() }.forEachIndexed { i, word ->
                at = part.indexOf(word, at)
                val found = if (word == maskToken) listOf(checkNotNull(maskId)) else ids[word] ?: listOf(20)
                found.forEach { tokens += Token(it, at, at + word.length, i, sequence) }
                at += word.length
            }
        }
        val cut = tokens.size >= limit
        val kept = tokens.take(limit - 1) + Token(3, 0, 0, -1, -1)
        return Encoding(
            kept.map { it.id }.toIntArray(),
            kept.map { maxOf(it.sequence, 0) }.toIntArray(),
            kept.map { it.start }.toIntArray(),
            kept.map { it.end }.toIntArray(),
            kept.map { it.word }.toIntArray(),
            kept.map { it.sequence }.toIntArray(),
            cut,
        )
    }

    private class Token(
        val id: Int,
        val start: Int,
        val end: Int,
        val word: Int,
        val sequence: Int,
    )
}

fun fakeModel(
    engine: Engine = FakeEngine(),
    manifest: Manifest = manifestOf(),
    tokenizer: Tokenizer = FakeTokenizer(),
): TextModel = TextModel(Artifact(File("none"), manifest), tokenizer, engine)
