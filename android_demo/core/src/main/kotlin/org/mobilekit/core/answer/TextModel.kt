package org.mobilekit.core.answer

import org.mobilekit.core.EngineException
import org.mobilekit.core.InputException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifest.Task
import org.mobilekit.core.text.Encoding
import org.mobilekit.core.text.Tokenizer
import org.mobilekit.core.text.Truncation

/** An artifact that answers texts. One thread at a time may use it; [close] closes the engine. */
class TextModel(
    val artifact: Artifact,
    val tokenizer: Tokenizer,
    val engine: Engine,
) : AutoCloseable {
    private val manifest: Manifest = artifact.manifest

    internal val runner: ModelRunner = ModelRunner(manifest, engine)

    /**
     * Tokenize, run and decode one text or pair.
     *
     * [pair]: a second text; for question answering the context, [text] being the question. [threshold]: least
     * probability of a label where several may hold. [count]: how many spans or words. Throws [InputException] for a
     * pair where the artifact takes none, and for a missing context or mask token;
     * [EngineException] where the engine fails, its output is not finite, or memory is out;
     * [org.mobilekit.core.ArtifactException] where the file gives another output than its manifest says.
     */
    fun answer(
        text: String,
        pair: String? = null,
        threshold: Double = THRESHOLD,
        count: Int = COUNT,
    ): Answer {
        refuse(text, pair)
        try {
            return decoded(text, pair, threshold, count)
        } catch (error: OutOfMemoryError) {
            throw EngineException("${manifest.name}: no memory for this text; close other apps, or shorten it.", error)
        }
    }

    private fun decoded(
        text: String,
        pair: String?,
        threshold: Double,
        count: Int,
    ): Answer {
        val encoded = encode(text, pair)
        if (manifest.asksToken) return filled(text, encoded, count)
        val output = runner.run(encoded.ids, encoded.typeIds)
        val items =
            when (manifest.task) {
                Task.SEQUENCE_CLASSIFICATION -> {
                    decodeLabels(output, manifest.labels, manifest.problemType, threshold)
                }

                Task.TOKEN_CLASSIFICATION -> {
                    decodeEntities(output, manifest.labels, encoded, text, manifest.tokenizer.prefix.length)
                }

                Task.QUESTION_ANSWERING -> {
                    decodeSpans(output, encoded, pair.orEmpty(), count)
                }

                else -> {
                    emptyList()
                }
            }
        return Answer(text, items, output, encoded.size, encoded.truncated)
    }

    /** The tokens that the model reads of a text or pair, cut to its longest length. */
    fun encode(
        text: String,
        pair: String? = null,
    ): Encoding {
        val cut =
            if (manifest.task == Task.QUESTION_ANSWERING) Truncation.ONLY_SECOND else Truncation.LONGEST_FIRST
        return tokenizer.encode(manifest.tokenizer.prefix + text, pair, manifest.maxLength, cut)
    }

    private fun refuse(
        text: String,
        pair: String?,
    ) {
        val (task, mask) = manifest.task to tokenizer.maskToken
        val wrong =
            when {
                pair != null && manifest.tokenizer.pairTemplate.isEmpty() -> {
                    "takes no token types, so it cannot tell a pair of texts apart."
                }

                pair != null && task == Task.SENTENCE_EMBEDDING -> {
                    "embeds one text at a time; to compare texts, give each as a text of its own."
                }

                pair != null && (task == Task.TOKEN_CLASSIFICATION || task == Task.FILL_MASK) -> {
                    "a ${task.id} model takes one text, not a pair."
                }

                pair == null && task == Task.QUESTION_ANSWERING -> {
                    "answers a question about a text; give the text as well."
                }

                manifest.asksToken && mask == null -> {
                    "its tokenizer has no mask token, so it cannot be asked."
                }

                manifest.asksToken && mask !in text -> {
                    "no mask token in the text; put $mask where the word is missing."
                }

                else -> {
                    return
                }
            }
        throw InputException("${manifest.name}: $wrong")
    }

    /** Each mask token of the text in turn, the others left as they are. */
    private fun filled(
        text: String,
        encoded: Encoding,
        count: Int,
    ): Answer {
        val mask = tokenizer.maskToken.orEmpty()
        val places = encoded.ids.indices.filter { encoded.ids[it] == tokenizer.maskId }
        if (places.isEmpty()) {
            throw InputException("the text was cut before its mask token; give a shorter text.")
        }
        val items = mutableListOf<Item>()
        val outputs = FloatArray(places.size * manifest.outputSize)
        places.forEachIndexed { i, place ->
            val logits = runner.run(encoded.ids, encoded.typeIds, predict = place)
            // Some mask tokens swallow the space before them, and their offsets with it.
            val start = text.indexOf(mask, encoded.starts[place] - manifest.tokenizer.prefix.length)
            if (start < 0) throw InputException("${manifest.name}: its tokenizer finds no mask token in the text.")
            items += decodeWords(logits, tokenizer, text, start, start + mask.length, count)
            logits.copyInto(outputs, i * manifest.outputSize)
        }
        return Answer(text, items, outputs, encoded.size, encoded.truncated)
    }

    override fun close(): Unit = engine.close()

    companion object {
        const val THRESHOLD: Double = 0.5
        const val COUNT: Int = 5
    }
}

private operator fun String.contains(part: String?): Boolean = part != null && indexOf(part) >= 0
