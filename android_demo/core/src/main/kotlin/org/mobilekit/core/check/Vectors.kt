package org.mobilekit.core.check

import kotlin.math.sqrt

internal fun FloatArray.doubles(): DoubleArray = DoubleArray(size) { this[it].toDouble() }

internal fun norm(values: DoubleArray): Double = sqrt(values.sumOf { it * it })

/** 0 where one has no direction. */
internal fun cosine(
    one: DoubleArray,
    other: DoubleArray,
): Double {
    val norms = norm(one) * norm(other)
    return if (norms == 0.0) 0.0 else one.indices.sumOf { one[it] * other[it] } / norms
}

internal fun List<DoubleArray>.joined(): DoubleArray = flatMap { it.asList() }.toDoubleArray()

/** The first of the largest. */
internal fun DoubleArray.best(): Int = indices.maxBy { this[it] }

/** Whether another value is the best one, and it was not within [MARGIN] times [limit] of it before. */
internal fun flipped(
    base: DoubleArray,
    other: DoubleArray,
    limit: Double,
): Boolean {
    if (base.size < 2) return false
    val (first, second) = base.sortedDescending()
    return first - second > MARGIN * limit && base.best() != other.best()
}
