package org.mobilekit.core.text.json

private const val BASE = 10
private const val LONGEST_EXPONENT = 5
private const val LARGEST_POWER = 308
private val MOST_SIGNIFICAND = ULong.MAX_VALUE / BASE.toUInt()
private val NUMBER_PARTS = Regex("(-?)(0|[1-9][0-9]*)(?:\\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
private val POWERS = DoubleArray(LARGEST_POWER + 1) { "1e$it".toDouble() }

/**
 * A number of a JSON text as the reference library's parser reads it; null where it is none, or too large.
 *
 * That parser rounds twice (its digits to a double, then times or by a power of ten), so that scores can be one unit in
 * the last place away from the nearest double, and pieces of equal scores decided otherwise.
 */
internal fun decimal(text: String): Double? {
    val parts = NUMBER_PARTS.matchEntire(text)?.groupValues ?: return null
    val (_, sign, whole, fraction, power) = parts
    if (power.trimStart('+', '-').length > LONGEST_EXPONENT) return null
    var significand = 0uL
    var exponent = 0
    var full = false
    for ((i, digit) in (whole + fraction).withIndex()) {
        val value = (digit - '0').toUInt()
        full = full || significand > MOST_SIGNIFICAND || significand * BASE.toUInt() > ULong.MAX_VALUE - value
        if (!full) significand = significand * BASE.toUInt() + value
        if (full && i < whole.length) exponent++
        if (!full && i >= whole.length) exponent--
    }
    if (power.isNotEmpty()) exponent += power.toInt()
    val value = scaled(significand.toDouble(), exponent) ?: return null
    return if (sign == "-") -value else value
}

private fun scaled(
    significand: Double,
    exponent: Int,
): Double? {
    var value = significand
    var left = exponent
    while (left < -LARGEST_POWER) {
        if (value == 0.0) return value
        value /= POWERS[LARGEST_POWER]
        left += LARGEST_POWER
    }
    if (left > LARGEST_POWER) return value.takeIf { it == 0.0 }
    return (if (left >= 0) value * POWERS[left] else value / POWERS[-left]).takeIf { it.isFinite() }
}
