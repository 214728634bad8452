package org.mobilekit.core.answer

/** Cosine of every output with every other, `[n][n]`; outputs are as long as each other. */
fun cosines(outputs: List<FloatArray>): List<DoubleArray> = TODO("$outputs")
