package org.mobilekit.demo.models

import org.mobilekit.core.EngineException
import org.mobilekit.core.answer.TextModel
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.engine.EngineLibrary
import org.mobilekit.core.text.Encoding
import org.mobilekit.core.text.Tokenizer
import org.mobilekit.core.text.Truncation

/** Loads artifacts: which engine runs them, and how long the parts of an answer take. */
class Models(
    private val libraries: List<EngineLibrary>,
    private val openTokenizer: (Artifact) -> Tokenizer,
) {
    /** The library that runs files of a target; throws [EngineException] where the app has none. */
    fun library(artifact: Artifact): EngineLibrary =
        libraries.firstOrNull { artifact.manifest.target in it.targets }
            ?: throw EngineException(
                "${artifact.manifest.name}: this app has no engine for ${artifact.manifest.target} files; export it " +
                    "for ${libraries.flatMap { it.targets }.joinToString(" or ")}.",
            )

    /** Read an artifact's tokenizer. */
    fun tokenizer(artifact: Artifact): Tokenizer = openTokenizer(artifact)

    /** Load an artifact; whoever calls closes it. */
    fun open(
        artifact: Artifact,
        threads: Int,
    ): LoadedModel {
        val library = library(artifact)
        val tokenizer = openTokenizer(artifact)
        val started = System.nanoTime()
        val engine = library.open(artifact, threads)
        return LoadedModel(artifact, tokenizer, engine, (System.nanoTime() - started) / NANOS)
    }
}

/** A model with a clock at its tokenizer and its engine. [loadMs]: what loading the model file took. */
class LoadedModel(
    artifact: Artifact,
    tokenizer: Tokenizer,
    engine: Engine,
    val loadMs: Double,
) : AutoCloseable {
    private val timedTokenizer = TimedTokenizer(tokenizer)
    private val timedEngine = TimedEngine(engine)

    /** To ask. */
    val text: TextModel = TextModel(artifact, timedTokenizer, timedEngine)

    /** Milliseconds of tokenizing since the model was loaded. */
    val tokenizingMs: Double get() = timedTokenizer.nanos / NANOS

    /** Milliseconds of running since the model was loaded. */
    val runningMs: Double get() = timedEngine.nanos / NANOS

    override fun close(): Unit = text.close()
}

private class TimedTokenizer(
    private val tokenizer: Tokenizer,
) : Tokenizer by tokenizer {
    var nanos = 0L

    override fun encode(
        text: String,
        pair: String?,
        limit: Int,
        truncation: Truncation,
    ): Encoding {
        val started = System.nanoTime()
        return tokenizer.encode(text, pair, limit, truncation).also { nanos += System.nanoTime() - started }
    }
}

private class TimedEngine(
    private val engine: Engine,
) : Engine by engine {
    var nanos = 0L

    override fun run(
        length: Int,
        inputs: Map<String, IntArray>,
    ): Map<String, FloatArray> {
        val started = System.nanoTime()
        return engine.run(length, inputs).also { nanos += System.nanoTime() - started }
    }
}

private const val NANOS = 1e6
