package org.mobilekit.core

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException

/** The text that [bytes] are in UTF-8; null where they are none. */
internal fun utf8OrNull(bytes: ByteArray): String? =
    try {
        Charsets.UTF_8
            .newDecoder()
            .decode(ByteBuffer.wrap(bytes))
            .toString()
    } catch (_: CharacterCodingException) {
        null
    }

/** Where the first half of a surrogate pair without its other half stands in [text]; -1 where each has it. */
internal fun firstHalfPair(text: CharSequence): Int {
    var at = 0
    while (at < text.length) {
        val point = Character.codePointAt(text, at)
        if (point in Char.MIN_SURROGATE.code..Char.MAX_SURROGATE.code) return at
        at += Character.charCount(point)
    }
    return -1
}
