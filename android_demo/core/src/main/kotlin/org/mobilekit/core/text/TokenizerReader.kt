package org.mobilekit.core.text

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.text.json.JsonCursor
import org.mobilekit.core.text.model.Model
import org.mobilekit.core.text.process.PostProcessor
import org.mobilekit.core.text.read.ModelReader
import org.mobilekit.core.text.read.Part
import org.mobilekit.core.text.read.decoder
import org.mobilekit.core.text.read.normalizer
import org.mobilekit.core.text.read.postProcessor
import org.mobilekit.core.text.read.preTokenizer
import java.io.File
import java.io.IOException

/**
 * Reads `tokenizer.json`, the file of the `tokenizers` library, and makes the tokenizer that it describes.
 *
 * A part that is not supported is an error that names it; nothing is left out. Truncation and padding are the caller's,
 * whatever the file says of them, as in `mobilekit.text`. Its packages: `normalize` rewrites the text, `split` cuts it
 * into words, `model` makes tokens of a word, `process` puts special tokens around them, `decode` goes back; `read` makes
 * these of the file, by `json`; `pattern` and `unicode` are what they need of expressions and characters.
 *
 * Ids, offsets and the rest are equal to the library's 0.23.3; `TokenizerParityTest` holds it. It is stricter: ids or
 * tokens that are there twice, and an unknown token that is missing, are refused when the file is read.
 */
object TokenizerReader {
    private const val VERSION = "1.0"
    private const val MOST_BYTES = 64L shl 20

    /** Throws [ArtifactException] when the file cannot be read, is damaged, or has a part that is not supported. */
    fun read(file: File): Tokenizer {
        if (file.length() > MOST_BYTES) {
            throw ArtifactException("${file.name}: ${file.length()} bytes; a tokenizer has at most $MOST_BYTES.")
        }
        val data =
            try {
                file.readBytes()
            } catch (error: IOException) {
                throw ArtifactException("${file.name}: cannot be read (${error.message}).", error)
            }
        return parse(data, file.name)
    }

    /** [json]: the text of a file, which errors call [name]. Throws as [read]. */
    fun read(
        json: String,
        name: String,
    ): Tokenizer = parse(json.toByteArray(), name)

    private fun parse(
        data: ByteArray,
        name: String,
    ): Tokenizer =
        try {
            Fields(JsonCursor(data, name)).tokenizer()
        } catch (error: ArtifactException) {
            if (error.message.orEmpty().startsWith(name)) throw error
            throw ArtifactException("$name: ${error.message}", error)
        }

    /** What the file's object has. */
    private class Fields(
        json: JsonCursor,
    ) {
        private val values = LinkedHashMap<String, Any?>()
        private var model: Model? = null

        init {
            json.readObject { name ->
                if (name == "model") model = ModelReader(json).read() else values[name] = json.readValue()
            }
            json.expectEnd()
        }

        fun tokenizer(): Tokenizer {
            val version = values["version"]
            if (version != null && version != VERSION) throw ArtifactException("version is $version, not $VERSION.")
            val found = model ?: throw ArtifactException("it has no model.")
            val normalizer = part("normalizer", "normalizer")?.let(::normalizer)
            return FileTokenizer(
                normalizer = normalizer,
                preTokenizer = part("pre_tokenizer", "pre-tokenizer")?.let(::preTokenizer),
                model = found,
                processor = part("post_processor", "post-processor")?.let(::postProcessor) ?: PostProcessor.plain(null),
                decoder = part("decoder", "decoder")?.let(::decoder),
                added = AddedTokens(addedTokens(), found.vocabulary, normalizer),
            )
        }

        private fun part(
            name: String,
            role: String,
        ): Part? {
            val value = values[name] ?: return null
            val map = value as? Map<*, *> ?: throw ArtifactException("$role: it is no object.")
            return Part(role, map.entries.associate { it.key.toString() to it.value })
        }

        private fun addedTokens(): List<AddedToken> {
            val value = values["added_tokens"] ?: return emptyList()
            val list = value as? List<*> ?: throw ArtifactException("added_tokens is no list.")
            return list.map { element ->
                val map = element as? Map<*, *> ?: throw ArtifactException("added_tokens: an element is no object.")
                val fields = map.entries.associate { it.key.toString() to it.value }
                addedToken(Part("added token", fields + ("type" to fields["content"])))
            }
        }

        private fun addedToken(part: Part): AddedToken {
            part.number("id")
            return AddedToken(
                content = part.text("content"),
                singleWord = part.flag("single_word"),
                lstrip = part.flag("lstrip"),
                rstrip = part.flag("rstrip"),
                normalized = part.flag("normalized"),
                special = part.flag("special"),
            )
        }
    }
}
