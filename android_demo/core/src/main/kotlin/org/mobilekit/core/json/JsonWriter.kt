package org.mobilekit.core.json

/** JSON as Python's `json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)` writes it, and a line feed. */
internal fun jsonText(value: Any?): String = StringBuilder().apply { write(value, "\n") }.append('\n').toString()

/** A text as Python's `json.dumps(text, ensure_ascii=False)` writes it. */
internal fun jsonString(text: String): String = StringBuilder().apply { writeString(text) }.toString()

private fun StringBuilder.write(
    value: Any?,
    line: String,
) {
    when (value) {
        null, is Boolean, is Int, is Long -> {
            append(value)
        }

        is Double -> {
            append(written(value))
        }

        is String -> {
            writeString(value)
        }

        is List<*> -> {
            writeAll(value, line, '[', ']') { write(it, "$line ") }
        }

        is Map<*, *> -> {
            writeAll(value.entries.sortedBy { it.key as String }, line, '{', '}') {
                writeString(it.key as String)
                append(": ")
                write(it.value, "$line ")
            }
        }

        else -> {
            throw IllegalArgumentException("no JSON: ${value.javaClass}")
        }
    }
}

private fun <T> StringBuilder.writeAll(
    values: Collection<T>,
    line: String,
    opening: Char,
    closing: Char,
    one: (T) -> Unit,
) {
    append(opening)
    values.forEachIndexed { i, value ->
        append(if (i > 0) "," else "").append(line).append(' ')
        one(value)
    }
    if (values.isNotEmpty()) append(line)
    append(closing)
}

private fun StringBuilder.writeString(text: String) {
    append('"')
    for (character in text) {
        when (character) {
            '"', '\\' -> append('\\').append(character)
            '\n' -> append("\\n")
            '\r' -> append("\\r")
            '\t' -> append("\\t")
            '\b' -> append("\\b")
            '\u000c' -> append("\\f")
            in '\u0000'..'\u001f' -> append("\\u00").append(character.code.toString(HEX).padStart(2, '0'))
            else -> append(character)
        }
    }
    append('"')
}

private fun written(value: Double): String {
    require(value.isFinite()) { "no JSON: $value" }
    return value.toString()
}

private const val HEX = 16
