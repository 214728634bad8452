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
    ): CharSequence {
        val marks = items.mapNotNull { mark(it, text) }
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
