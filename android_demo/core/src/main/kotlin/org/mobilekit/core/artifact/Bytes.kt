package org.mobilekit.core.artifact

import java.security.MessageDigest

internal const val SHA256 = "SHA-256"

/** sha256 in base 16, lower case. */
internal fun sha256(bytes: ByteArray): String = hex(MessageDigest.getInstance(SHA256).digest(bytes))

internal fun hex(bytes: ByteArray): String =
    StringBuilder(2 * bytes.size)
        .apply {
            for (byte in bytes) append(DIGITS[(byte.toInt() shr 4) and 15]).append(DIGITS[byte.toInt() and 15])
        }.toString()

/** Below 0 where [first] comes before [second] by their bytes as unsigned numbers. */
internal fun compareUnsigned(
    first: ByteArray,
    second: ByteArray,
): Int {
    for (i in 0 until minOf(first.size, second.size)) {
        val difference = (first[i].toInt() and 255) - (second[i].toInt() and 255)
        if (difference != 0) return difference
    }
    return first.size - second.size
}

private const val DIGITS = "0123456789abcdef"
