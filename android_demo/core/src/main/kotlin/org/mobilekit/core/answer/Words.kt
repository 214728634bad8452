package org.mobilekit.core.answer

import org.mobilekit.core.text.Tokenizer

private const val GOES_ON = "##"

/**
 * The [count] best tokens for a mask, best first; [logits]: of the vocabulary. The mask is [start] until [end] in
 * [text]; each item's text is the whole text with the word put there.
 */
internal fun decodeWords(
    logits: FloatArray,
    tokenizer: Tokenizer,
    text: String,
    start: Int,
    end: Int,
    count: Int,
): List<Item> {
    val shares = softmax(logits)
    return best(shares, tokenizer, count).mapIndexed { i, id ->
        val word = tokenizer.decode(intArrayOf(id)).trim(::isSpace).ifEmpty { tokenizer.token(id).orEmpty() }
        // A piece that goes on with the word before it.
        val piece = word.startsWith(GOES_ON) && word.length > GOES_ON.length
        val before = text.substring(0, start).let { if (piece) it.trimEnd(::isSpace) else it }
        val inside = if (piece) word.removePrefix(GOES_ON) else word
        Item(word, shares[id], before + inside + text.substring(end), start, end, chosen = i == 0)
    }
}

/**
 * Ids of the largest shares, among equals the first, that stand for a token: tables are often longer than the
 * vocabulary, to a round number of rows.
 */
private fun best(
    shares: DoubleArray,
    tokenizer: Tokenizer,
    count: Int,
): List<Int> {
    val found = ArrayList<Int>(count)
    for (id in shares.indices) {
        val full = found.size == count
        if (count < 1 || (full && shares[id] <= shares[found.last()]) || tokenizer.token(id) == null) continue
        if (full) found.removeAt(found.lastIndex)
        val place = found.indexOfFirst { shares[it] < shares[id] }
        found.add(if (place < 0) found.size else place, id)
    }
    return found
}
