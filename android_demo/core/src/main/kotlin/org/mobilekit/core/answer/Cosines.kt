package org.mobilekit.core.answer

import kotlin.math.sqrt

/** Cosine of every output with every other, `[n][n]`; outputs are as long as each other. */
fun cosines(outputs: List<FloatArray>): List<DoubleArray> {
    val rows =
        outputs.map { output ->
            // Of an output of zeros the cosine is 0.
            val length = maxOf(sqrt(output.sumOf { it.toDouble() * it }), LEAST)
            DoubleArray(output.size) { output[it] / length }
        }
    return rows.map { one -> DoubleArray(rows.size) { k -> one.indices.sumOf { one[it] * rows[k][it] } } }
}

private const val LEAST = 1e-12
