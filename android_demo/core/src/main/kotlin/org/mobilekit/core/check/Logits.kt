package org.mobilekit.core.check

import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifest.ProblemType
import org.mobilekit.core.manifest.Task
import kotlin.math.abs
import kotlin.math.sign
import kotlin.math.sqrt

/**
 * What logits say. [width]: values a row, null where each input has one row. [choice]: whether a row is one choice
 * among its columns. [answers]: whether there is an answer to compare. [close]: how near, relative to a row's length, values
 * may lie to change places.
 */
internal class Kind(
    val width: Int?,
    val choice: Boolean,
    val answers: Boolean,
    val close: Double,
)

internal fun kindOf(manifest: Manifest): Kind {
    val (size, choice) = manifest.labels.size to (manifest.task == Task.TOKEN_CLASSIFICATION)
    val problem = manifest.problemType
    return when (manifest.task) {
        Task.SEQUENCE_CLASSIFICATION -> {
            Kind(size, problem == ProblemType.SINGLE_LABEL, problem != ProblemType.REGRESSION, CLOSE)
        }

        Task.FILL_MASK -> {
            Kind(null, choice = true, answers = true, close = CLOSE)
        }

        else -> {
            Kind(size, choice, choice, CLOSE_OF_MANY)
        }
    }
}

/** What [holdAnswers] found: in words, behind what was measured before, and whether it held. */
internal class Held(
    val passed: Boolean,
    val said: String,
)

/**
 * Whether logits say the same, beyond what their cosine sees: a common offset would hide everything from that.
 *
 * Centred logits (for one choice of many each row's own mean taken off, else each column's mean over the rows) have to
 * keep [CENTRED_COSINE], and answers that are not a matter of rounding have to be the same.
 */
internal fun holdAnswers(
    kind: Kind,
    got: List<FloatArray>,
    expected: List<FloatArray>,
): Held {
    val (e, g) = listOf(expected, got).map { rows(it, kind.width) }
    val columns = if (kind.choice) null else DoubleArray(e[0].size) { k -> e.sumOf { it[k] } / e.size }
    val middle = e.map { it.less(columns) }.joined()
    val size = norm(middle)
    val centred = if (size > 0) cosine(g.map { it.less(columns) }.joined(), middle) else 1.0
    val margin = kind.close * size / sqrt(e.size.toDouble())
    val differ = if (kind.choice) ::flipped else ::signsFlipped
    val flips = if (kind.answers) e.indices.count { differ(e[it], g[it], margin) } else 0
    val said = (if (size > 0) "; centred ${"%.5f".plain(centred)}" else "") + changed(flips)
    return Held(centred >= CENTRED_COSINE && flips == 0, said)
}

internal fun changed(flips: Int): String = if (flips == 0) "" else "; $flips answers changed"

private fun rows(
    outputs: List<FloatArray>,
    width: Int?,
): List<DoubleArray> =
    outputs.flatMap { output ->
        val size = width ?: output.size
        List(output.size / size) { output.copyOfRange(it * size, (it + 1) * size).doubles() }
    }

/** Less given values, or its own mean. */
private fun DoubleArray.less(columns: DoubleArray?): DoubleArray {
    val mean = average()
    return DoubleArray(size) { this[it] - (columns?.get(it) ?: mean) }
}

private fun signsFlipped(
    base: DoubleArray,
    other: DoubleArray,
    limit: Double,
): Boolean = base.indices.any { base[it].sign != other[it].sign && abs(base[it]) > MARGIN * limit }
