package org.mobilekit.core.text.decode

import org.mobilekit.core.text.normalize.codePointArray
import org.mobilekit.core.text.split.ByteAlphabet
import java.io.ByteArrayOutputStream

/** Bytes for the characters that stand for them; a token with another character is taken as it is. */
internal object ByteLevelDecoder : Decoder {
    override fun decode(tokens: List<String>): List<String> {
        val bytes = ByteArrayOutputStream()
        for (token in tokens) {
            val read = token.codePointArray().map(ByteAlphabet::byte)
            if (read.any { it < 0 }) bytes.write(token.toByteArray()) else read.forEach(bytes::write)
        }
        return listOf(lenientUtf8(bytes.toByteArray()))
    }
}

/** Tokens `<0x00>` to `<0xFF>` are bytes; where a run of them is no UTF-8 text, each becomes U+FFFD. */
internal object ByteFallbackDecoder : Decoder {
    private const val HEX = 16
    private const val DIGITS_BEGIN = 3
    private const val LENGTH = 6

    override fun decode(tokens: List<String>): List<String> {
        val made = mutableListOf<String>()
        val run = mutableListOf<Byte>()
        for (token in tokens) {
            val byte = byte(token)
            if (byte != null) {
                run += byte
            } else {
                made += texts(run)
                run.clear()
                made += token
            }
        }
        return made + texts(run)
    }

    private fun byte(token: String): Byte? {
        if (token.length != LENGTH || !token.startsWith("<0x") || !token.endsWith('>')) return null
        val digits = token.substring(DIGITS_BEGIN, LENGTH - 1)
        if (!digits.all { it in '0'..'9' || it in 'a'..'f' || it in 'A'..'F' }) return null
        return digits.toInt(HEX).toByte()
    }

    private fun texts(bytes: List<Byte>): List<String> {
        if (bytes.isEmpty()) return emptyList()
        val text = lenientUtf8(bytes.toByteArray())
        return if (text.toByteArray().contentEquals(bytes.toByteArray())) listOf(text) else bytes.map { "\uFFFD" }
    }
}

/**
 * UTF-8 bytes as text, with U+FFFD for what is none: one for each longest begin of a character, as the Unicode Standard
 * advises in section 3.9 and the reference library does. Android's own decoder differs by version.
 */
internal fun lenientUtf8(bytes: ByteArray): String {
    val text = StringBuilder(bytes.size)
    var at = 0
    while (at < bytes.size) {
        val lead = bytes[at].toInt() and BYTE
        val length = sequenceLength(lead)
        var point = if (length == 1) lead else lead and (BYTE ushr (length + 1))
        var read = 1
        while (read < length && isContinuation(bytes, at + read, lead, read)) {
            point = (point shl CONTINUATION_BITS) or (bytes[at + read].toInt() and CONTINUATION)
            read++
        }
        text.appendCodePoint(if (length == 0 || read < length) REPLACEMENT else point)
        at += read
    }
    return text.toString()
}

private fun sequenceLength(lead: Int): Int =
    when (lead) {
        in 0x00..0x7F -> 1
        in 0xC2..0xDF -> 2
        in 0xE0..0xEF -> 3
        in 0xF0..0xF4 -> 4
        else -> 0
    }

/** Whether a byte may be the one after [index] of a character that begins with [lead]: no surrogates, no overlong forms. */
private fun isContinuation(
    bytes: ByteArray,
    at: Int,
    lead: Int,
    index: Int,
): Boolean {
    if (at >= bytes.size) return false
    val byte = bytes[at].toInt() and BYTE
    if (index > 1) return byte in 0x80..0xBF
    return when (lead) {
        0xE0 -> byte in 0xA0..0xBF
        0xED -> byte in 0x80..0x9F
        0xF0 -> byte in 0x90..0xBF
        0xF4 -> byte in 0x80..0x8F
        else -> byte in 0x80..0xBF
    }
}

private const val BYTE = 0xFF
private const val CONTINUATION = 0x3F
private const val CONTINUATION_BITS = 6
private const val REPLACEMENT = 0xFFFD
