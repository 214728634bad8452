package org.mobilekit.core.text.json

private const val BASE = 10uL
private const val LONGEST_EXPONENT = 5
private const val LARGEST_POWER = 308
private val MOST_SIGNIFICAND = ULong.MAX_VALUE / BASE
private val POWERS = DoubleArray(LARGEST_POWER + 1) { "1e$it".toDouble() }

/**
 * A number of a JSON text as the reference library's parser reads it; null where it is none, or too large.
 *
 * That parser rounds twice (its digits to a double, then times or by a power of ten), so that scores can be one unit in
 * the last place away from the nearest double, and pieces of equal scores decided otherwise.
 */
internal fun decimal(text: String): Double? {
    val negative = text.startsWith('-')
    val mantissa = text.removePrefix("-").substringBefore('e').substringBefore('E')
    val exponent = exponent(text.substring(mantissa.length + if (negative) 1 else 0)) ?: return null
    val value = mantissa(mantissa, exponent) ?: return null
    return if (negative) -value else value
}

/** What follows `e`; 0 where there is nothing. */
private fun exponent(text: String): Int? {
    if (text.isEmpty()) return 0
    val digits = text.drop(1).removePrefix("+").removePrefix("-")
    if (digits.length !in 1..LONGEST_EXPONENT || !isDigits(digits)) return null
    return text.drop(1).toIntOrNull()
}

private fun mantissa(
    text: String,
    power: Int,
): Double? {
    val whole = text.substringBefore('.')
    val fraction = text.substringAfter('.', "")
    val wellFormed = isDigits(whole) && isDigits(fraction) && !text.endsWith('.')
    if (!wellFormed || whole.isEmpty() || (whole.length > 1 && whole[0] == '0')) return null
    var significand = 0uL
    var exponent = power
    var full = false
    for ((i, digit) in (whole + fraction).withIndex()) {
        val value = (digit - '0').toULong()
        // Digits that no longer fit are left out.
        full = full || significand > MOST_SIGNIFICAND || significand * BASE > ULong.MAX_VALUE - value
        if (!full) significand = significand * BASE + value
        if (full && i < whole.length) exponent++
        if (!full && i >= whole.length) exponent--
    }
    return scaled(significand.toDouble(), exponent)
}

private fun isDigits(text: String): Boolean = text.all { it in '0'..'9' }

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
