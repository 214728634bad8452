package org.mobilekit.demo.answers

import android.view.ViewGroup
import android.widget.LinearLayout
import org.mobilekit.core.answer.Answer
import org.mobilekit.core.answer.Item
import org.mobilekit.core.manifest.ProblemType
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.R
import org.mobilekit.demo.ui.CosineView
import org.mobilekit.demo.ui.Numbers
import org.mobilekit.demo.ui.addBar
import org.mobilekit.demo.ui.addText

/** Draws an answer as its task needs: bars, marked text, words, cosines. */
internal class AnswerViews(
    private val into: LinearLayout,
) {
    private val context = into.context

    /** Draw it in place of the last one. */
    fun show(outcome: Outcome) {
        into.removeAllViews()
        val answer = outcome.answers.first()
        when (outcome.manifest.task) {
            Task.SEQUENCE_CLASSIFICATION -> labels(outcome, answer)
            Task.TOKEN_CLASSIFICATION -> entities(outcome, answer)
            Task.QUESTION_ANSWERING -> spans(outcome, answer)
            Task.FILL_MASK -> words(outcome)
            Task.SENTENCE_EMBEDDING -> embeddings(outcome)
        }
    }

    private fun labels(
        outcome: Outcome,
        answer: Answer,
    ) {
        if (outcome.manifest.problemType == ProblemType.REGRESSION) {
            for (item in answer.items) {
                section(item.label)
                into.addText(Numbers.plain(item.score, DIGITS), R.style.Text_Headline)
            }
            return
        }
        val chosen = answer.items.filter { it.chosen }
        val headline = chosen.joinToString(", ") { it.label }
        into.addText(headline.ifEmpty { context.getString(R.string.no_label) }, R.style.Text_Headline)
        for (item in answer.items.take(MOST_BARS)) bar(item)
        more(answer.items.size - MOST_BARS, R.plurals.more_labels)
    }

    private fun entities(
        outcome: Outcome,
        answer: Answer,
    ) {
        if (answer.items.isEmpty()) into.addText(context.getString(R.string.no_entity), R.style.Text_Title)
        into.addText(MarkedText.of(context, outcome.shown, answer.items), R.style.Text).setTextIsSelectable(true)
        if (answer.items.isNotEmpty()) section(context.getString(R.string.found), above = SECTION)
        for (item in answer.items.take(MOST_ENTITIES)) {
            into.addBar("${item.text.orEmpty()}  ·  ${item.label}", Numbers.percent(item.score), item.score)
        }
        more(answer.items.size - MOST_ENTITIES, R.plurals.more_entities)
    }

    private fun spans(
        outcome: Outcome,
        answer: Answer,
    ) {
        val best = answer.items.firstOrNull()
        into.addText(best?.text?.ifBlank { null } ?: context.getString(R.string.no_span), R.style.Text_Headline)
        section(context.getString(R.string.in_context), above = SECTION)
        into.addText(MarkedText.of(context, outcome.shown, listOfNotNull(best)), R.style.Text).setTextIsSelectable(true)
        if (answer.items.isNotEmpty()) section(context.getString(R.string.spans), above = SECTION)
        for (item in answer.items.filter { it === best || it.score >= LEAST_SHOWN }) {
            into.addBar(
                item.text?.ifBlank { null } ?: context.getString(R.string.no_span),
                Numbers.percent(item.score),
                item.score,
                item === best,
            )
        }
    }

    private fun words(outcome: Outcome) {
        val answer = outcome.answers.first()
        val places = answer.items.groupBy { it.start ?: 0 }.toSortedMap()
        into.addText(MarkedText.filled(context, outcome.shown, places.values.map { it.first() }), R.style.Text_Title)
        for ((number, words) in places.values.withIndex()) {
            if (places.size > 1) section(context.getString(R.string.mask_number, number + 1), above = SECTION)
            for ((rank, item) in words.withIndex()) {
                into.addBar(item.label.trim(), Numbers.percent(item.score), item.score, rank == 0)
            }
        }
    }

    private fun embeddings(outcome: Outcome) {
        if (outcome.answers.size < 2) {
            into.addText(context.getString(R.string.one_embedding_title), R.style.Text_Title)
            val size =
                outcome.answers
                    .first()
                    .output.size
            into.addText(context.getString(R.string.one_embedding, size), R.style.Text_Secondary, above = LINE)
            return
        }
        section(context.getString(R.string.nearest))
        into.addText(line(outcome, 0), R.style.Text_Title)
        val others =
            outcome.answers.indices
                .drop(1)
                .sortedByDescending { outcome.cosines[0][it] }
        for ((rank, index) in others.withIndex()) {
            val cosine = outcome.cosines[0][index]
            into.addBar(
                line(outcome, index),
                Numbers.plain(cosine, DIGITS),
                cosine,
                rank == 0,
            )
        }
        if (outcome.answers.size > MOST_CELLS) return
        section(context.getString(R.string.cosines), above = SECTION)
        val matrix = CosineView(context)
        matrix.cosines = outcome.cosines
        into.addView(matrix, ViewGroup.LayoutParams.MATCH_PARENT, ViewGroup.LayoutParams.WRAP_CONTENT)
    }

    /** Its number and how it begins: a view of 100,000 characters takes seconds to be laid out. */
    private fun line(
        outcome: Outcome,
        index: Int,
    ): String {
        val text = outcome.answers[index].text
        return "${index + 1}  ${if (text.length > MOST_CHARACTERS) text.take(MOST_CHARACTERS) + "…" else text}"
    }

    private fun bar(item: Item) {
        into.addBar(item.label, Numbers.percent(item.score), item.score, item.chosen)
    }

    private fun section(
        words: String,
        above: Int = 0,
    ) {
        into.addText(words, R.style.Text_Section, above)
    }

    private fun more(
        count: Int,
        words: Int,
    ) {
        if (count <= 0) return
        into.addText(context.resources.getQuantityString(words, count, count), R.style.Text_Secondary, above = LINE)
    }

    private companion object {
        const val MOST_BARS = 10
        const val MOST_ENTITIES = 30
        const val MOST_CELLS = 8
        const val MOST_CHARACTERS = 300
        const val DIGITS = 3

        /** What is shown as 0.0 % is no answer. */
        const val LEAST_SHOWN = 0.0005
        const val LINE = 6
        const val SECTION = 16
    }
}
