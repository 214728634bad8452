package org.mobilekit.core.answer

import org.mobilekit.core.text.Encoding

// Longer spans are no answers.
private const val LONGEST = 30

/** The label of the item that says that the context has no answer. */
const val NO_ANSWER: String = "no answer"

/**
 * The best spans of the second text, best first (Devlin et al. 2019, sections 4.2 and 4.3); [logits]: for each token of
 * [encoded] that of a start and that of an end.
 *
 * A span begins and ends inside the [context], ends no earlier than it begins, has at most 30 tokens, and is widened to
 * whole words. Scores are the product of start's and end's probability over the context's tokens and the first token,
 * which stands for "no answer". Spans that overlap a better one are left out.
 */
internal fun decodeSpans(
    logits: FloatArray,
    encoded: Encoding,
    context: String,
    count: Int,
): List<Item> {
    val inside = BooleanArray(encoded.size) { encoded.sequences[it] == 1 && encoded.starts[it] < encoded.ends[it] }
    val (starts, ends) = listOf(0, 1).map { softmax(logits, it, encoded.size, 2) { i -> i == 0 || inside[i] } }
    val items = mutableListOf(Item(NO_ANSWER, starts[0] * ends[0], ""))
    // Row by row, of each start the ends from itself on.
    val scores = DoubleArray(encoded.size * LONGEST)
    for (first in inside.indices) {
        for (last in first until minOf(first + LONGEST, inside.size)) {
            if (inside[first] && inside[last]) scores[first * LONGEST + last - first] = starts[first] * ends[last]
        }
    }
    for (i in 0 until count) {
        val best = if (scores.isEmpty()) break else largestOf(scores)
        if (scores[best] == 0.0) break
        val (first, last) = wholeWords(best / LONGEST, best / LONGEST + best % LONGEST, encoded)
        val (start, end) = encoded.starts[first] to encoded.ends[last]
        items += Item("answer", scores[best], context.substring(start, end), start, end)
        // A span overlaps this one unless it ends before its first token or begins behind its last.
        for (row in 0..last) for (k in maxOf(0, first - row) until LONGEST) scores[row * LONGEST + k] = 0.0
    }
    return items.sortedByDescending { it.score }.mapIndexed { i, item -> item.copy(chosen = i == 0) }
}

/** The same span without a word cut in two. */
private fun wholeWords(
    from: Int,
    to: Int,
    encoded: Encoding,
): Pair<Int, Int> {
    var (first, last) = from to to
    while (first > 0 && sameWord(encoded, first - 1, first)) first--
    while (last + 1 < encoded.size && sameWord(encoded, last + 1, last)) last++
    return first to last
}

private fun sameWord(
    encoded: Encoding,
    one: Int,
    other: Int,
): Boolean = encoded.sequences[one] == 1 && encoded.words[one] == encoded.words[other]
