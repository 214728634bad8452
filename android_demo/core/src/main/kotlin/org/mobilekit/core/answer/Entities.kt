package org.mobilekit.core.answer

import org.mobilekit.core.text.Encoding

private const val OUTSIDE = "O"

// Inside of an entity; the first of one; its last; one on its own (BIO, BIOES and BILOU write them so).
private val PREFIXES = setOf("B", "I", "E", "L", "S", "U")
private val BEGINS = setOf("B", "S", "U")
private val ENDS = setOf("E", "L", "S", "U")

/** A word: its label, the score of that, and its place in the text. */
private class Word(
    val prefix: String,
    val kind: String,
    val score: Double,
    val start: Int,
    val end: Int,
)

/**
 * Entities in the order of the [text]; [logits]: a row for each token of [encoded], a value for each label.
 *
 * A word has the label of its first token, so that no entity ends inside a word. Labels with prefixes (B-, I-, ...) and
 * plain ones beside "O" are merged over neighbouring words; a label set without "O" (parts of speech) labels each word
 * for itself. An entity's score is the mean of its words'. [shift]: UTF-16 units put before the text.
 */
internal fun decodeEntities(
    logits: FloatArray,
    labels: List<String>,
    encoded: Encoding,
    text: String,
    shift: Int,
): List<Item> {
    val prefixed = labels.any { split(it).first.isNotEmpty() }
    val words = words(logits, labels, encoded, text, shift, prefixed)
    if (OUTSIDE !in labels && !prefixed) return words.map { entity(listOf(it), text) }
    val entities = mutableListOf<MutableList<Word>>()
    var before: Word? = null
    for (word in words) {
        if (word.kind != OUTSIDE) {
            if (before != null && goesOn(before, word)) entities.last().add(word) else entities.add(mutableListOf(word))
        }
        before = word
    }
    return entities.map { entity(it, text) }
}

private fun words(
    logits: FloatArray,
    labels: List<String>,
    encoded: Encoding,
    text: String,
    shift: Int,
    prefixed: Boolean,
): List<Word> {
    val found = mutableListOf<Word>()
    var last = -1
    for (i in 0 until encoded.size) {
        val (number, start, end) = Triple(encoded.words[i], encoded.starts[i] - shift, encoded.ends[i] - shift)
        // Neither special tokens nor a prompt that was put before the text.
        if (number < 0 || encoded.sequences[i] != 0 || start < 0) continue
        if (number == last) {
            found[found.lastIndex] = found.last().let { Word(it.prefix, it.kind, it.score, it.start, end) }
        } else if (!text.substring(start, end).all(::isSpace)) {
            // White space is a word to some tokenizers.
            val shares = softmax(logits, i * labels.size, labels.size)
            val best = largestOf(shares)
            val (prefix, kind) = if (prefixed) split(labels[best]) else "" to labels[best]
            found += Word(prefix, kind, shares[best], start, end)
            last = number
        }
    }
    return found
}

/** `B-PER`: B, PER; what has no such prefix: "", itself. */
private fun split(label: String): Pair<String, String> {
    val prefix = label.substringBefore('-', "")
    return if (prefix in PREFIXES) prefix to label.substringAfter('-') else "" to label
}

/** Whether a word goes on with the entity of the word before it. */
private fun goesOn(
    before: Word,
    word: Word,
): Boolean = before.kind == word.kind && word.prefix !in BEGINS && before.prefix !in ENDS

private fun entity(
    words: List<Word>,
    text: String,
): Item {
    val (start, end) = words.first().start to words.last().end
    return Item(words.first().kind, words.map { it.score }.average(), text.substring(start, end), start, end)
}
