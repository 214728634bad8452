package org.mobilekit.core.check

import org.mobilekit.core.manifest.Golden
import org.mobilekit.core.manifest.Precision
import kotlin.math.abs

// Limits of export/thresholds.py, where their reasons stand.

/** A single embedding's cosine, where the mean keeps the limit above. */
internal const val LEAST_COSINE = 0.997

/** How far an embedding's length may be off. */
internal const val LENGTH_RATIO = 0.03

/** How well logits hold together once their common offset is taken off. */
internal const val CENTRED_COSINE = 0.99

/** An answer may change only where it was so many limits close before. */
internal const val MARGIN = 2.0

/** Logits so close, relative to their length, may change places when activations are quantized ... */
internal const val CLOSE = 0.02

/** ... and where there are hundreds of tokens. */
internal const val CLOSE_OF_MANY = 0.06

/** Outputs of which no value differs by more are the same. */
internal const val CONSTANT = 1e-6

/** How far an output may change with padding, where the largest magnitude of outputs is [largest]. */
internal fun paddingLimit(
    precision: Precision,
    largest: Double,
): Double =
    when (precision) {
        Precision.SINGLE -> maxOf(1e-5, 2e-6 * largest)
        Precision.HALF -> maxOf(2e-3, largest / HALF_STEPS)
        Precision.QUANTIZED -> maxOf(5e-3, largest / HALF_STEPS)
        Precision.STATIC -> maxOf(5e-3, 2 * largest / Byte.MAX_VALUE)
    }

internal fun largestOf(golden: List<Golden>): Double =
    golden.maxOf { entry -> entry.output.maxOf { abs(it.toDouble()) } }

private const val HALF_STEPS = 512
