package org.mobilekit.core.text.read

import org.mobilekit.core.text.json.JsonCursor
import org.mobilekit.core.text.json.JsonNumber
import org.mobilekit.core.text.json.decimal
import org.mobilekit.core.text.model.BytePairs
import org.mobilekit.core.text.model.Merges
import org.mobilekit.core.text.model.Model
import org.mobilekit.core.text.model.TokenTexts
import org.mobilekit.core.text.model.TokenTrie
import org.mobilekit.core.text.model.Unigram
import org.mobilekit.core.text.model.Vocabulary
import org.mobilekit.core.text.model.WordPiece

/** Reads the `model` of a tokenizer's file; the long lists in it are taken up as they come. */
internal class ModelReader(
    private val json: JsonCursor,
) {
    private val fields = LinkedHashMap<String, Any?>()
    private var vocabulary: Vocabulary? = null
    private var scores: DoubleArray? = null
    private var merges: TokenTexts? = null

    fun read(): Model {
        json.readObject { name ->
            when {
                name == "vocab" && json.peek() == '{' -> vocabulary = Vocabulary.read(json)
                name == "vocab" -> readScored()
                name == "merges" -> merges = Merges.readPairs(json)
                else -> fields[name] = json.readValue()
            }
        }
        if ("type" !in fields) fields["type"] = guessed()
        val part = Part("model", fields)
        return when (part.type) {
            "WordPiece" -> wordPiece(part)
            "Unigram" -> unigram(part)
            "BPE" -> bytePairs(part)
            else -> part.unsupported()
        }
    }

    /** Files of old versions do not say it. */
    private fun guessed(): String? =
        when {
            merges != null -> "BPE"
            scores != null -> "Unigram"
            "max_input_chars_per_word" in fields -> "WordPiece"
            else -> null
        }

    private fun readScored() {
        val texts = TokenTexts()
        var values = DoubleArray(FIRST_CAPACITY)
        json.readArray {
            json.expect('[')
            texts.add(json.readString())
            json.expect(',')
            val number = json.readNumber()
            if (texts.size > values.size) values = values.copyOf(2 * values.size)
            values[texts.size - 1] = decimal(number) ?: json.fail("$number is no score")
            json.expect(']')
        }
        vocabulary = Vocabulary.of(texts)
        scores = values.copyOf(texts.size)
    }

    private fun wordPiece(part: Part): Model {
        val tokens = mapped(part)
        val unknown = token(part, tokens, "unk_token", part.text("unk_token"))
        val prefix = part.text("continuing_subword_prefix")
        return WordPiece(tokens, unknown, prefix, part.number("max_input_chars_per_word"))
    }

    private fun unigram(part: Part): Model {
        val found = scores ?: part.fail("vocab is no list of pieces and scores")
        val tokens = checkNotNull(vocabulary)
        val unknown = part.number("unk_id")
        if (unknown >= tokens.size) part.fail("unk_id is $unknown; there are ${tokens.size} pieces")
        val fallsBack = part.flag("byte_fallback", default = false)
        val bytes = if (fallsBack) IntArray(BYTES) { tokens.id(byteName(it)) } else null
        return Unigram(tokens, found, unknown, bytes)
    }

    private fun bytePairs(part: Part): Model {
        val tokens = mapped(part)
        val pairs = merges ?: part.fail("merges are missing")
        for (name in listOf("continuing_subword_prefix", "end_of_word_suffix")) {
            if (!part.optionalText(name).isNullOrEmpty()) part.fail("$name is not supported")
        }
        if (part.flag("byte_fallback", default = false)) part.fail("byte_fallback is not supported")
        val dropout = fields["dropout"] ?: JsonNumber("0")
        if ((dropout as? JsonNumber)?.let { decimal(it.text) } != 0.0) part.fail("dropout is not supported")
        val unknown = part.optionalText("unk_token")?.let { token(part, tokens, "unk_token", it) } ?: TokenTrie.NONE
        return BytePairs(
            vocabulary = tokens,
            merges = Merges.of(pairs, tokens) { part.fail(it) },
            unknown = unknown,
            fuseUnknown = part.flag("fuse_unk", default = false),
            wholeWords = part.flag("ignore_merges", default = false),
        )
    }

    private fun mapped(part: Part): Vocabulary {
        if (scores != null) part.fail("vocab is a list, not an object of tokens and ids")
        return vocabulary ?: part.fail("vocab is missing")
    }

    private fun token(
        part: Part,
        tokens: Vocabulary,
        name: String,
        token: String,
    ): Int = tokens.id(token).also { if (it == TokenTrie.NONE) part.fail("$name is '$token', which vocab lacks") }

    private fun byteName(byte: Int): String = "<0x${byte.toString(HEX).uppercase().padStart(2, '0')}>"

    private companion object {
        const val FIRST_CAPACITY = 1 shl 8
        const val BYTES = 256
        const val HEX = 16
    }
}
