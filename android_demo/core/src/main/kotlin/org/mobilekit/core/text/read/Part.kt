package org.mobilekit.core.text.read

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.text.json.JsonNumber
import org.mobilekit.core.text.normalize.codePointArray
import org.mobilekit.core.text.pattern.LiteralPattern
import org.mobilekit.core.text.pattern.Pattern
import org.mobilekit.core.text.pattern.RegexPattern

/** A part of a tokenizer's file, an object with a type; what is wrong with it is said by its [role] and type. */
internal class Part(
    private val role: String,
    private val fields: Map<String, Any?>,
) {
    val type: String = fields["type"] as? String ?: throw ArtifactException("$role: it has no type.")

    /** A field that is true or false; [default] where it is missing or null, which is an error without one. */
    fun flag(
        name: String,
        default: Boolean? = null,
    ): Boolean =
        when (val value = fields[name]) {
            is Boolean -> value
            null -> default ?: fail("$name is missing")
            else -> fail("$name is neither true nor false")
        }

    fun optionalFlag(name: String): Boolean? = if (fields[name] == null) null else flag(name)

    fun text(name: String): String = fields[name] as? String ?: fail("$name is no text")

    fun optionalText(name: String): String? = if (fields[name] == null) null else text(name)

    /** A text of one character. */
    fun character(name: String): Int = text(name).codePointArray().singleOrNull() ?: fail("$name is not one character")

    /** A whole number from 0. */
    fun number(name: String): Int = number(name, fields[name])

    fun list(name: String): List<Any?> = fields[name] as? List<*> ?: fail("$name is no list")

    fun map(
        name: String,
        value: Any? = fields[name],
    ): Map<String, Any?> {
        val map = value as? Map<*, *> ?: fail("$name is no object")
        return map.entries.associate { it.key.toString() to it.value }
    }

    /** The parts of a sequence. */
    fun parts(name: String): List<Part> = list(name).map { Part(role, map(name, it)) }

    fun number(
        name: String,
        value: Any?,
    ): Int {
        val number = (value as? JsonNumber)?.text?.toIntOrNull()
        return number?.takeIf { it >= 0 } ?: fail("$name is no whole number from 0")
    }

    /** What is looked for: `{"String": ...}` or `{"Regex": ...}`. */
    fun pattern(name: String): Pattern {
        val (kind, value) = map(name).entries.singleOrNull() ?: fail("$name is neither a text nor an expression")
        val text = value as? String ?: fail("$name is no text")
        if (text.isEmpty()) fail("$name is empty")
        return when (kind) {
            "String" -> LiteralPattern(text.codePointArray())
            "Regex" -> expression(text)
            else -> fail("$name is neither a text nor an expression")
        }
    }

    private fun expression(text: String): Pattern =
        try {
            RegexPattern(text)
        } catch (error: ArtifactException) {
            throw ArtifactException("$role '$type': ${error.message}", error)
        }

    fun fail(what: String): Nothing = throw ArtifactException("$role '$type': $what.")

    fun unsupported(): Nothing =
        throw ArtifactException("$role '$type' is not supported; export the model with another tokenizer.")
}
