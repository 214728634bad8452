package org.mobilekit.core.text.normalize

private const val TWO_BYTES = 0x80
private const val THREE_BYTES = 0x800
private const val FOUR_BYTES = 0x10000
private const val CONTINUATION = 0x3F
private const val CONTINUATION_BITS = 6
private const val CONTINUATION_MARK = 0x80
private val LEADING_MARKS = intArrayOf(0, 0, 0xC0, 0xE0, 0xF0)

/** Bytes of a code point in UTF-8. */
internal fun utf8Length(point: Int): Int =
    when {
        point < TWO_BYTES -> 1
        point < THREE_BYTES -> 2
        point < FOUR_BYTES -> 3
        else -> 4
    }

/** Byte [at] of a code point in UTF-8, of [length] bytes, as a number from 0. */
internal fun utf8Byte(
    point: Int,
    length: Int,
    at: Int,
): Int {
    if (length == 1) return point
    val bits = point ushr CONTINUATION_BITS * (length - 1 - at)
    return if (at == 0) LEADING_MARKS[length] or bits else CONTINUATION_MARK or (bits and CONTINUATION)
}

/** The code points of a string without lone surrogates. */
internal fun String.codePointArray(): IntArray {
    val points = IntArray(codePointCount(0, length))
    var at = 0
    for (i in points.indices) {
        points[i] = codePointAt(at)
        at += Character.charCount(points[i])
    }
    return points
}
