package org.mobilekit.core.check

import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifest.Task
import org.mobilekit.core.manifest.Tolerance
import kotlin.math.abs

/** Whether [outputs] of the golden inputs are the golden ones, as far apart as the manifest allows on a device. */
internal fun checkOutput(
    manifest: Manifest,
    outputs: List<FloatArray>,
): CheckRow {
    val (tolerance, embeds) = manifest.deviceTolerance to (manifest.task == Task.SENTENCE_EMBEDDING)
    val got = manifest.golden.zip(outputs) { entry, output -> entry.listed(output, manifest.outputSize) }
    val expected = manifest.golden.map { it.output }
    val near =
        when (tolerance.metric) {
            Tolerance.Metric.MAX_ABS -> apart(tolerance, got, expected)
            Tolerance.Metric.COSINE -> alike(tolerance, got, expected, together = !embeds)
        }
    val more =
        when {
            !embeds -> holdAnswers(kindOf(manifest), got, expected)
            tolerance.metric == Tolerance.Metric.COSINE -> lengths(got, expected)
            else -> Held(true, "")
        }
    val sign = if (tolerance.metric == Tolerance.Metric.MAX_ABS) "<=" else ">="
    return CheckRow(
        "output",
        "what the model gives for ${got.size} texts, against what it has to give",
        near.passed && more.passed,
        near.said + more.said,
        "${tolerance.metric.id} $sign ${shortly(tolerance.limit)}",
    )
}

private fun apart(
    tolerance: Tolerance,
    got: List<FloatArray>,
    expected: List<FloatArray>,
): Held {
    val worst = got.zip(expected).maxOf { (g, e) -> difference(g, e) }
    return Held(worst <= tolerance.limit, "%.1e".plain(worst))
}

/** The largest difference of a value. */
internal fun difference(
    one: FloatArray,
    other: FloatArray,
): Double = one.indices.maxOf { abs(one[it].toDouble() - other[it]) }

/** Cosines: of all inputs [together], or of each, of which the mean has to keep the limit and the least nearly. */
private fun alike(
    tolerance: Tolerance,
    got: List<FloatArray>,
    expected: List<FloatArray>,
    together: Boolean,
): Held {
    val (g, e) = listOf(got, expected).map { rows -> rows.map { it.doubles() } }
    val cosines = if (together) listOf(cosine(g.joined(), e.joined())) else g.zip(e) { a, b -> cosine(a, b) }
    val (mean, least) = cosines.average() to cosines.min()
    val said = "%.5f".plain(mean) + if (cosines.size > 1) ", least ${"%.5f".plain(least)}" else ""
    return Held(mean >= tolerance.limit && least >= minOf(LEAST_COSINE, tolerance.limit), said)
}

/** A cosine does not see lengths, and apps take dot products. */
private fun lengths(
    got: List<FloatArray>,
    expected: List<FloatArray>,
): Held {
    val off = got.zip(expected).maxOf { (g, e) -> abs(norm(g.doubles()) / norm(e.doubles()) - 1) }
    return Held(off <= LENGTH_RATIO, "; lengths within ${"%.1f".plain(PERCENT * off)} %")
}

private const val PERCENT = 100
