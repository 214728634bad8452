package org.mobilekit.core.measure

import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.check.SelfCheckResult
import org.mobilekit.core.engine.EngineLibrary

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

/**
 * Bytes over the idle engine after a run at each length, the first time that it is loaded; [idleBytes] before loading.
 *
 * In one process: what an earlier model gave back and the system kept may be used again, and is not counted.
 */
data class MemoryUse(
    val idleBytes: Long,
    val anonymousBytes: Long,
    val fileBytes: Long,
)

/**
 * What came of one contender. [error]: why it was not measured, or null. [lengths]: by exported length, ascending.
 * [textRun], [textPipeline]: of one text, the engine alone and the whole way; null where it reads other texts than the
 * protocol's.
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

/**
 * What a benchmark found; [measured] in the contenders' order. [protocol]: with the texts as most contenders read them.
 * [ratios]: to the first contender that was measured.
 */
class BenchmarkResult(
    val protocol: Protocol,
    val measured: List<Measured>,
    val ratios: List<Ratio>,
)
