package org.mobilekit.demo.answers

import android.content.Context
import android.graphics.Typeface
import android.text.SpannableString
import android.text.Spanned
import android.text.style.BackgroundColorSpan
import android.text.style.ForegroundColorSpan
import android.text.style.StyleSpan
import org.mobilekit.core.answer.Item
import org.mobilekit.demo.R

/** A text with what was found marked in it. */
internal object MarkedText {
    /** Texts are shown up to some way behind the last mark: no model reads 100,000 characters, nor does anyone here. */
    fun of(
        context: Context,
        text: String,
        items: List<Item>,
    ): CharSequence = marked(context, text, items.mapNotNull { mark(it, text) })

    /** The text with each missing word filled in and marked; [words]: one for each place, in the text's order. */
    fun filled(
        context: Context,
        text: String,
        words: List<Item>,
    ): CharSequence {
        val filled = StringBuilder()
        val marks = ArrayList<IntRange>()
        var read = 0
        for (word in words) {
            val place = mark(word, text)?.takeIf { it.first >= read } ?: continue
            filled.append(text, read, place.first)
            marks += filled.length until filled.length + word.label.trim().length
            filled.append(word.label.trim())
            read = place.last + 1
        }
        return marked(context, filled.append(text, read, text.length).toString(), marks)
    }

    private fun marked(
        context: Context,
        text: String,
        marks: List<IntRange>,
    ): CharSequence {
        val end = minOf(text.length, maxOf(LEAST, (marks.maxOfOrNull { it.last + 1 } ?: 0) + BEHIND))
        val shown = SpannableString(if (end < text.length) text.substring(0, end) + "…" else text)
        for (mark in marks) {
            for (span in spans(context)) {
                shown.setSpan(span, mark.first, mark.last + 1, Spanned.SPAN_EXCLUSIVE_EXCLUSIVE)
            }
        }
        return shown
    }

    private fun mark(
        item: Item,
        text: String,
    ): IntRange? {
        val start = item.start ?: return null
        val end = item.end ?: return null
        return (start until end).takeIf { start in 0 until end && end <= text.length }
    }

    private fun spans(context: Context): List<Any> =
        listOf(
            BackgroundColorSpan(context.getColor(R.color.accent_soft)),
            ForegroundColorSpan(context.getColor(R.color.accent)),
            StyleSpan(Typeface.BOLD),
        )

    private const val LEAST = 1_000
    private const val BEHIND = 200
}
