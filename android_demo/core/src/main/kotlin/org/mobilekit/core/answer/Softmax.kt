package org.mobilekit.core.answer

import kotlin.math.exp

/** Probabilities of [size] logits that begin at [start] and stand [step] apart; of those with [allowed] alone. */
internal fun softmax(
    logits: FloatArray,
    start: Int = 0,
    size: Int = logits.size,
    step: Int = 1,
    allowed: (Int) -> Boolean = { true },
): DoubleArray {
    var largest = Double.NEGATIVE_INFINITY
    for (i in 0 until size) if (allowed(i)) largest = maxOf(largest, logits[start + i * step].toDouble())
    val shares = DoubleArray(size) { if (allowed(it)) exp(logits[start + it * step].toDouble() - largest) else 0.0 }
    val sum = shares.sum()
    for (i in shares.indices) shares[i] /= sum
    return shares
}

/** The first of the largest values. */
internal fun largestOf(values: DoubleArray): Int {
    var best = 0
    for (i in values.indices) if (values[i] > values[best]) best = i
    return best
}

/** White space as Python's `str.strip` sees it. */
internal fun isSpace(character: Char): Boolean = character.isWhitespace() || character == '\u0085'
