package org.mobilekit.core.measure

import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.check.SelfCheckResult
import org.mobilekit.core.engine.EngineLibrary
import org.mobilekit.core.text.Tokenizer

/** What is measured: an [artifact] in an engine. [name]: of its row, another for each. */
class Contender(
    val name: String,
    val artifact: Artifact,
    val library: EngineLibrary,
)

/** Where a benchmark is: [doing] in words, and the [share] that is done, 0 to 1, never less than before. */
data class Progress(
    val doing: String,
    val share: Double,
)

/** Bytes over the idle engine after runs at each length; [idleBytes] before loading. */
data class MemoryUse(
    val idleBytes: Long,
    val anonymousBytes: Long,
    val fileBytes: Long,
)

/**
 * What came of one contender. [error]: why it was not measured, or null. [lengths]: by exported length, ascending.
 * [textRun], [textPipeline]: of one text, the engine alone and the whole way; null where it reads other texts.
 */
class Measured(
    val contender: Contender,
    val error: String?,
    val loadMs: List<Double>,
    val lengths: Map<Int, Statistics>,
    val textRun: Statistics?,
    val textPipeline: Statistics?,
    val memory: MemoryUse?,
    val selfCheck: SelfCheckResult?,
)

/** How many times as long a [row] takes as the [base] at a [work]: [median] over rounds, 95 % interval [low]..[high]. */
data class Ratio(
    val row: String,
    val base: String,
    val work: String,
    val median: Double,
    val low: Double,
    val high: Double,
)

/** What a benchmark found; [measured] in the contenders' order. [protocol]: with the texts as they were read. */
class BenchmarkResult(
    val protocol: Protocol,
    val measured: List<Measured>,
    val ratios: List<Ratio>,
)

/**
 * Contenders measured in turn in this process (docs/benchmarking.md); blocks its thread until it is done.
 *
 * [openTokenizer]: reads an artifact's `tokenizer.json`.
 */
class Benchmark(
    private val protocol: Protocol,
    private val openTokenizer: (Artifact) -> Tokenizer,
    private val clock: Clock = Clock(System::nanoTime),
    private val memory: MemoryReader = MemoryReader { null },
) {
    /**
     * Measure all [contenders], the first being the base of ratios; one that fails becomes a row with its error.
     *
     * [cancelled] is asked between runs; throws [java.util.concurrent.CancellationException] where it was, all engines
     * closed.
     */
    fun run(
        contenders: List<Contender>,
        progress: (Progress) -> Unit = {},
        cancelled: () -> Boolean = { false },
    ): BenchmarkResult = TODO("$contenders $progress $cancelled $protocol $openTokenizer $clock $memory")
}
