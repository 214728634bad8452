package org.mobilekit.core.json

import org.mobilekit.core.firstHalfPair

/** A text is no JSON; [message] says where. */
internal class JsonException(
    message: String,
) : Exception(message)

/**
 * JSON (RFC 8259) as Python's `json.loads` reads it, so that both accept the same files: also `NaN`, `Infinity` and
 * `-Infinity`, and of a key that is there twice the last value.
 *
 * Values are null, Boolean, Long, Double (also whole numbers that no Long holds), String, List and Map. Texts with half
 * a surrogate pair are refused, as they are no Unicode.
 */
internal class JsonParser(
    private val text: String,
) {
    private var at = 0

    /** The value; throws [JsonException] where the text is not exactly one. */
    fun parse(): Any? {
        val value = value(0)
        skipSpace()
        if (at < text.length) fail("more stands behind the value")
        return value
    }

    private fun value(depth: Int): Any? {
        if (depth > DEEPEST) fail("nested deeper than $DEEPEST")
        skipSpace()
        return when (peek()) {
            '{' -> members(depth)
            '[' -> elements(depth)
            '"' -> string()
            't' -> word("true", true)
            'f' -> word("false", false)
            'n' -> word("null", null)
            'N' -> word("NaN", Double.NaN)
            'I' -> word("Infinity", Double.POSITIVE_INFINITY)
            else -> if (text.startsWith("-I", at)) word("-Infinity", Double.NEGATIVE_INFINITY) else number()
        }
    }

    private fun members(depth: Int): Map<String, Any?> {
        val found = LinkedHashMap<String, Any?>()
        at++
        skipSpace()
        if (take('}')) return found
        do {
            skipSpace()
            if (peek() != '"') fail("a name in quotes is missing")
            val name = string()
            skipSpace()
            if (!take(':')) fail("':' is missing")
            found[name] = value(depth + 1)
            skipSpace()
        } while (take(','))
        if (!take('}')) fail("',' or '}' is missing")
        return found
    }

    private fun elements(depth: Int): List<Any?> {
        val found = ArrayList<Any?>()
        at++
        skipSpace()
        if (take(']')) return found
        do {
            found += value(depth + 1)
            skipSpace()
        } while (take(','))
        if (!take(']')) fail("',' or ']' is missing")
        return found
    }

    private fun string(): String {
        val start = ++at
        while (peek() != '"' && peek() != '\\') character()
        if (take('"')) return text.substring(start, at - 1)
        val found = StringBuilder().append(text, start, at)
        while (!take('"')) found.append(if (take('\\')) escaped() else character())
        if (firstHalfPair(found) >= 0) fail("a text has half a surrogate pair")
        return found.toString()
    }

    private fun character(): Char {
        val found = peek()
        if (found < ' ') fail("a text has a control character, or does not end")
        at++
        return found
    }

    private fun escaped(): Char {
        val found = peek()
        at++
        return when (found) {
            '"', '\\', '/' -> found
            'b' -> '\b'
            'f' -> '\u000c'
            'n' -> '\n'
            'r' -> '\r'
            't' -> '\t'
            'u' -> unit()
            else -> fail("an escape is unknown")
        }
    }

    private fun unit(): Char {
        var found = 0
        repeat(UNIT_DIGITS) {
            val digit = peek()
            val value = if (digit <= 'f') Character.digit(digit, HEX) else -1
            if (value < 0) fail("an escape has no four digits")
            found = found * HEX + value
            at++
        }
        return found.toChar()
    }

    private fun number(): Any {
        val start = at
        take('-')
        if (!take('0')) digits()
        var whole = true
        if (peek() == '.' && text.getOrNull(at + 1) in '0'..'9') {
            at++
            digits()
            whole = false
        }
        if (exponentFollows()) {
            at += if (text[at + 1] in "+-") 2 else 1
            digits()
            whole = false
        }
        val written = text.substring(start, at)
        return (if (whole) written.toLongOrNull() else null) ?: written.toDouble()
    }

    private fun exponentFollows(): Boolean {
        if (peek() != 'e' && peek() != 'E') return false
        val digit = if (text.getOrNull(at + 1) == '+' || text.getOrNull(at + 1) == '-') at + 2 else at + 1
        return text.getOrNull(digit) in '0'..'9'
    }

    private fun digits() {
        if (peek() !in '0'..'9') fail("a value is missing")
        while (peek() in '0'..'9') at++
    }

    private fun <T> word(
        written: String,
        value: T,
    ): T {
        if (!text.startsWith(written, at)) fail("a value is missing")
        at += written.length
        return value
    }

    private fun skipSpace() {
        while (at < text.length && (text[at] == ' ' || text[at] in '\t'..'\n' || text[at] == '\r')) at++
    }

    private fun take(wanted: Char): Boolean = (at < text.length && text[at] == wanted).also { if (it) at++ }

    /** The next character, or NUL at the end, which stands nowhere in JSON. */
    private fun peek(): Char = if (at < text.length) text[at] else '\u0000'

    private fun fail(what: String): Nothing = throw JsonException("$what at character $at")

    private companion object {
        const val DEEPEST = 500
        const val UNIT_DIGITS = 4
        const val HEX = 16
    }
}
