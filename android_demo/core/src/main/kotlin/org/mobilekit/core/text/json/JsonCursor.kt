package org.mobilekit.core.text.json

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.firstHalfPair

/**
 * Walks through the JSON text of [data] once, from left to right, without a tree of it: a tokenizer's vocabulary may have
 * a quarter of a million entries. What is no JSON throws ArtifactException.
 */
internal class JsonCursor(
    private val data: ByteArray,
    private val name: String,
) {
    private var at = 0

    /** The next character that is no white space, without taking it; 0 at the end. */
    fun peek(): Char {
        while (at < data.size && isWhite(data[at].toInt())) at++
        return if (at < data.size) data[at].toInt().toChar() else END
    }

    /** Calls [entry] for each entry of an object; it has to read the value. */
    inline fun readObject(entry: (String) -> Unit) {
        expect('{')
        if (peek() == '}') return expect('}')
        while (true) {
            val key = readString()
            expect(':')
            entry(key)
            if (peek() != ',') return expect('}')
            expect(',')
            if (peek() != '"') fail("a name is missing")
        }
    }

    /** Calls [element] for each element of an array; it has to read the value. */
    inline fun readArray(element: () -> Unit) {
        expect('[')
        if (peek() == ']') return expect(']')
        while (true) {
            element()
            if (peek() != ',') return expect(']')
            expect(',')
        }
    }

    fun expect(sign: Char) {
        if (peek() != sign) fail("'$sign' is missing")
        at++
    }

    fun expectEnd() {
        if (peek() != END || at < data.size) fail("there is more behind its end")
    }

    fun readString(): String {
        expect('"')
        val from = at
        while (at < data.size && data[at] != QUOTE) {
            if (data[at] == BACKSLASH) return readEscaped(from)
            if (data[at] in 0 until SPACE) fail("a control character is in a string")
            at++
        }
        if (at == data.size) fail("a string does not end")
        return decode(from, at++)
    }

    private fun readEscaped(from: Int): String {
        val text = StringBuilder(decode(from, at))
        var plain = at
        while (at < data.size && data[at] != QUOTE) {
            if (data[at] in 0 until SPACE) fail("a control character is in a string")
            if (data[at] != BACKSLASH) {
                at++
                continue
            }
            text.append(decode(plain, at))
            text.append(readEscape())
            plain = at
        }
        if (at == data.size) fail("a string does not end")
        text.append(decode(plain, at++))
        if (firstHalfPair(text) >= 0) fail("a string has half a character")
        return text.toString()
    }

    private fun readEscape(): Char {
        val sign = if (at + 1 < data.size) data[at + 1].toInt().toChar() else END
        at += 2
        if (sign == 'u') {
            if (at + UNICODE_DIGITS > data.size) fail("a string does not end")
            val digits = String(data, at, UNICODE_DIGITS, Charsets.ISO_8859_1)
            at += UNICODE_DIGITS
            if (!digits.all { it in '0'..'9' || it in 'a'..'f' || it in 'A'..'F' }) fail("'\\u$digits' is no character")
            return digits.toInt(HEX).toChar()
        }
        val index = ESCAPES.indexOf(sign)
        if (index < 0) fail("'\\$sign' is no escape")
        return ESCAPED[index]
    }

    private fun decode(
        from: Int,
        to: Int,
    ): String {
        val text = String(data, from, to - from, Charsets.UTF_8)
        if (REPLACEMENT in text && !text.toByteArray(Charsets.UTF_8).contentEquals(data.copyOfRange(from, to))) {
            fail("it is not UTF-8 text")
        }
        return text
    }

    /** A number as text. */
    fun readNumber(): String {
        peek()
        val from = at
        while (at < data.size && data[at].toInt().toChar() in NUMBER) at++
        if (at == from) fail("a number is missing")
        return String(data, from, at - from, Charsets.ISO_8859_1)
    }

    /** A whole number from 0 to 2**31 - 1. */
    fun readId(): Int {
        val text = readNumber()
        val value = text.toIntOrNull()
        if (value == null || value < 0 || text.startsWith('-') || text.startsWith('+')) {
            fail("$text is no id; it has to be a whole number from 0")
        }
        return value
    }

    /** Reads any value, as a map, list, string, [JsonNumber], boolean or null. */
    fun readValue(depth: Int = 0): Any? {
        if (depth > MOST_DEPTH) fail("it has more than $MOST_DEPTH levels")
        return when (peek()) {
            '{' -> LinkedHashMap<String, Any?>().also { map -> readObject { map[it] = readValue(depth + 1) } }
            '[' -> ArrayList<Any?>().also { list -> readArray { list += readValue(depth + 1) } }
            '"' -> readString()
            't' -> true.also { readWord("true") }
            'f' -> false.also { readWord("false") }
            'n' -> null.also { readWord("null") }
            else -> JsonNumber(readNumber())
        }
    }

    private fun readWord(word: String) {
        if (at + word.length > data.size || String(data, at, word.length, Charsets.ISO_8859_1) != word) {
            fail("'$word' is missing")
        }
        at += word.length
    }

    fun fail(what: String): Nothing = throw ArtifactException("$name: $what (at byte $at).")

    companion object {
        private const val END = '\u0000'
        private const val QUOTE = '"'.code.toByte()
        private const val BACKSLASH = '\\'.code.toByte()
        private const val SPACE = 0x20
        private const val HEX = 16
        private const val UNICODE_DIGITS = 4
        private const val MOST_DEPTH = 64
        private const val NUMBER = "+-.0123456789eE"
        private const val REPLACEMENT = '\uFFFD'
        private const val ESCAPES = "\"\\/bfnrt"
        private const val ESCAPED = "\"\\/\b\u000C\n\r\t"

        private fun isWhite(byte: Int): Boolean = byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}

/** A number of a JSON text, as it is written there. */
internal class JsonNumber(
    val text: String,
)
