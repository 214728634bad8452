package org.mobilekit.core.report

import org.mobilekit.core.check.SelfCheckResult
import org.mobilekit.core.manifest.TensorGroup
import org.mobilekit.core.manifest.isControl
import org.mobilekit.core.measure.Measured
import org.mobilekit.core.measure.MemoryUse
import org.mobilekit.core.measure.Ratio
import org.mobilekit.core.measure.Statistics
import kotlin.math.pow
import kotlin.math.round

// Rows of a report, as its schema has them.

private const val LONGEST_TEXT = 300
private const val LONGEST_NAME = 200
private const val LONGEST_GROUP = 100
private const val MOST_GROUPS = 50
private const val LOAD_DIGITS = 3
private const val DIGITS = 4

internal fun rowOf(measured: Measured): Map<String, Any?> {
    val manifest = measured.contender.artifact.manifest
    return mapOf(
        "name" to measured.contender.name,
        "kind" to "artifact",
        "model" to name(manifest.model),
        "target" to name(manifest.target),
        "scheme" to name(manifest.scheme),
        "engine" to name(measured.contender.library.name),
        "sha256" to manifest.sha256,
        "bytes" to manifest.bytes,
        "packed_bytes" to null,
        "parameters" to manifest.parameters,
        "error" to measured.error?.let(::text),
        "load_ms" to measured.loadMs.map { rounded(it, LOAD_DIGITS) },
        "lengths" to measured.lengths.map { (length, runs) -> mapOf("length" to length, "run" to runsOf(runs)) },
        "text_run" to measured.textRun?.let(::runsOf),
        "text_pipeline" to measured.textPipeline?.let(::runsOf),
        "memory" to measured.memory?.let(::memoryOf),
        "delegation" to null,
        "groups" to groupsOf(manifest.groups),
        "self_check" to measured.selfCheck?.let(::checkOf),
        "accuracy" to null,
    )
}

internal fun ratioOf(ratio: Ratio): Map<String, Any?> =
    mapOf(
        "row" to ratio.row,
        "base" to ratio.base,
        "work" to ratio.work,
        "median" to rounded(ratio.median),
        "low" to rounded(ratio.low),
        "high" to rounded(ratio.high),
    )

/** Bytes by group; none of them where a report takes no such names, or not so many: a part would be no sum. */
private fun groupsOf(groups: Map<String, TensorGroup>): Map<String, Long> {
    val fit = groups.size <= MOST_GROUPS && groups.keys.all { it.length <= LONGEST_GROUP && !it.any(::isControl) }
    return if (fit) groups.mapValues { it.value.bytes } else emptyMap()
}

private fun runsOf(runs: Statistics): Map<String, Any?> =
    mapOf(
        "median_ms" to rounded(runs.medianMs),
        "p90_ms" to rounded(runs.p90Ms),
        "middle80_mean_ms" to rounded(runs.middle80MeanMs),
        "spread" to rounded(runs.spread),
        "runs" to runs.runs,
    )

private fun memoryOf(memory: MemoryUse): Map<String, Any?> =
    mapOf(
        "idle_bytes" to memory.idleBytes,
        "anonymous_bytes" to memory.anonymousBytes,
        "file_bytes" to memory.fileBytes,
        "peak_bytes" to null,
    )

private fun checkOf(check: SelfCheckResult): Map<String, Any?> =
    mapOf("passed" to check.passed, "said" to text(check.said))

/** A text as a report takes it: short, and nothing in it that steers a terminal. */
internal fun text(said: String): String = cut(said, LONGEST_TEXT)

/** A name as a report takes it; something has to be in it. */
internal fun name(said: String): String = cut(said, LONGEST_NAME).ifEmpty { "-" }

private fun cut(
    said: String,
    most: Int,
): String {
    val plain = said.filterNot { isControl(it) }.take(most)
    // Not in the middle of a character.
    return if (plain.lastOrNull()?.isHighSurrogate() == true) plain.dropLast(1) else plain
}

private fun rounded(
    value: Double,
    digits: Int = DIGITS,
): Double = TEN.pow(digits).let { round(value * it) / it }

private const val TEN = 10.0
