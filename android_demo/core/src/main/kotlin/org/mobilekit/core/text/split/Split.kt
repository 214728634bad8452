package org.mobilekit.core.text.split

import org.mobilekit.core.text.pattern.Pattern

/** What becomes of the matches that a text is split at. */
internal enum class Behavior {
    REMOVED,
    ISOLATED,
    MERGED_WITH_PREVIOUS,
    MERGED_WITH_NEXT,
    CONTIGUOUS,
}

/** At matches of [pattern], or ([inverted]) at what is between them. */
internal class Split(
    private val pattern: Pattern,
    private val behavior: Behavior,
    private val inverted: Boolean,
) : PreTokenizer {
    override fun split(pieces: Pieces): Pieces =
        pieces.splitEach { from, to ->
            val spans = Spans()
            var last = from
            pattern.find(text.points, from, to) { begin, end ->
                if (last != begin) spans.add(last, begin, inverted)
                spans.add(begin, end, !inverted)
                last = end
            }
            if (last != to) spans.add(last, to, inverted)
            spans.eachPiece(behavior) { begin, end -> add(begin, end) }
        }
}

/** At each punctuation sign. */
internal class Punctuation(
    private val behavior: Behavior,
) : PreTokenizer {
    override fun split(pieces: Pieces): Pieces =
        pieces.splitEach { from, to ->
            val spans = Spans()
            var last = from
            for (i in from until to) {
                if (!isPunctuation(text.points[i])) continue
                if (last < i) spans.add(last, i, isMatch = false)
                spans.add(i, i + 1, isMatch = true)
                last = i + 1
            }
            if (last < to) spans.add(last, to, isMatch = false)
            spans.eachPiece(behavior) { begin, end -> add(begin, end) }
        }
}

/** A text cut into matches and what is between them. */
internal class Spans {
    private val begins = mutableListOf<Int>()
    private val ends = mutableListOf<Int>()
    private val matches = mutableListOf<Boolean>()

    fun add(
        begin: Int,
        end: Int,
        isMatch: Boolean,
    ) {
        begins += begin
        ends += end
        matches += isMatch
    }

    fun eachPiece(
        behavior: Behavior,
        piece: (Int, Int) -> Unit,
    ) {
        when (behavior) {
            Behavior.REMOVED -> for (i in begins.indices) if (!matches[i]) piece(begins[i], ends[i])
            Behavior.ISOLATED -> for (i in begins.indices) piece(begins[i], ends[i])
            Behavior.CONTIGUOUS -> eachJoined(piece) { i -> matches[i] == (i > 0 && matches[i - 1]) }
            Behavior.MERGED_WITH_PREVIOUS -> eachJoined(piece) { i -> matches[i] && !(i > 0 && matches[i - 1]) }
            Behavior.MERGED_WITH_NEXT -> eachJoined(piece) { i -> joinsNext(i - 1) }
        }
    }

    /** Whether a match becomes one with what follows it: it does unless that is a match too. */
    private fun joinsNext(index: Int): Boolean = index >= 0 && matches[index] && !matches[index + 1]

    /** Calls [piece] with spans of which each after the first [joins] the one before. */
    private fun eachJoined(
        piece: (Int, Int) -> Unit,
        joins: (Int) -> Boolean,
    ) {
        var begin = 0
        for (i in begins.indices) {
            if (i > 0 && !joins(i)) {
                piece(begins[begin], ends[i - 1])
                begin = i
            }
        }
        if (begins.isNotEmpty()) piece(begins[begin], ends.last())
    }
}
