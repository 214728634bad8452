package org.mobilekit.core.text.process

import org.mobilekit.core.InputException
import org.mobilekit.core.text.Truncation
import org.mobilekit.core.text.model.Tokens

/**
 * Cuts texts so that they have at most [limit] tokens with the [added] special ones.
 *
 * Throws InputException where what may not be cut leaves no room.
 */
internal fun truncate(
    texts: List<Tokens>,
    added: Int,
    limit: Int,
    truncation: Truncation,
) {
    if (truncation == Truncation.LONGEST_FIRST) {
        if (limit < added) {
            throw InputException("at most $limit ids leave no room for the $added special tokens; allow more.")
        }
        return truncateLongest(texts, limit - added)
    }
    val target = if (truncation == Truncation.ONLY_FIRST) 0 else 1
    val others = added + texts.indices.sumOf { if (it == target) 0 else texts[it].size }
    if (others >= limit || target >= texts.size) {
        val (kept, other) = if (target == 0) "second" to "first" else "first" to "second"
        throw InputException(
            "the $kept text takes $others of $limit ids with the special tokens, which leaves no room for the " +
                "$other; shorten it.",
        )
    }
    texts[target].truncate(limit - others)
}

/** The longer text gives first; where both have to, the second keeps the odd one (the first where it was longer). */
private fun truncateLongest(
    texts: List<Tokens>,
    room: Int,
) {
    if (texts.size == 1) return texts[0].truncate(room)
    val firstIsLonger = texts[0].size > texts[1].size
    var shorter = minOf(texts[0].size, texts[1].size)
    var longer = if (shorter > room) shorter else maxOf(shorter, room - shorter)
    if (shorter + longer > room) {
        shorter = room / 2
        longer = shorter + room % 2
    }
    texts[0].truncate(if (firstIsLonger) longer else shorter)
    texts[1].truncate(if (firstIsLonger) shorter else longer)
}
