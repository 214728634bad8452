package org.mobilekit.demo.ui

import android.view.View
import android.view.ViewGroup
import android.widget.GridLayout
import android.widget.LinearLayout
import android.widget.TextView
import org.mobilekit.demo.R

/** What a pill means, by its colours. */
internal enum class Tone(
    val background: Int,
    val text: Int,
) {
    GOOD(R.drawable.pill_good, R.color.accent),
    QUIET(R.drawable.pill_quiet, R.color.text_secondary),
    ERROR(R.drawable.pill_error, R.color.error),
}

/** Add a few words in a pill. */
internal fun ViewGroup.addPill(
    words: CharSequence,
    tone: Tone,
) {
    val pill = inflate(R.layout.pill) as TextView
    pill.text = words
    pill.setBackgroundResource(tone.background)
    pill.setTextColor(context.getColor(tone.text))
    addView(pill)
}

/** Add a bar under its label and value; read aloud as one. */
internal fun ViewGroup.addBar(
    label: CharSequence,
    value: CharSequence,
    share: Double,
    chosen: Boolean = true,
) {
    val row = inflate(R.layout.bar)
    row.findViewById<TextView>(R.id.bar_label).text = label
    row.findViewById<TextView>(R.id.bar_value).text = value
    row.findViewById<Bar>(R.id.bar).also {
        it.share = share
        it.chosen = chosen
    }
    row.isFocusable = true
    row.contentDescription = "$label, $value"
    addView(row)
}

/** Add a large figure over what it is; several stand beside each other. */
internal fun ViewGroup.addFigure(
    figure: CharSequence,
    label: CharSequence,
) {
    val piece = inflate(R.layout.figure)
    piece.findViewById<TextView>(R.id.figure).text = figure
    piece.findViewById<TextView>(R.id.figure_label).text = label
    addView(piece)
}

/** Add a line of text in one of our styles, [above] dp under what is before it. */
internal fun ViewGroup.addText(
    words: CharSequence,
    style: Int,
    above: Int = 0,
): TextView {
    val line = TextView(context, null, 0, style)
    line.text = words
    val size = LinearLayout.LayoutParams(ViewGroup.LayoutParams.MATCH_PARENT, ViewGroup.LayoutParams.WRAP_CONTENT)
    size.topMargin = dp(above)
    addView(line, size)
    return line
}

/** Density-independent pixels in pixels. */
internal fun View.dp(value: Int): Int = (value * resources.displayMetrics.density + ROUNDED).toInt()

private const val ROUNDED = 0.5f

/** Add a view as the next cell of a grid whose columns are all as wide, with room [below] it in pixels. */
internal fun GridLayout.addCell(
    view: View,
    below: Int = resources.getDimensionPixelSize(R.dimen.gap),
) {
    val row = GridLayout.spec(GridLayout.UNDEFINED, GridLayout.FILL)
    val size = GridLayout.LayoutParams(row, GridLayout.spec(GridLayout.UNDEFINED, GridLayout.FILL, 1f))
    size.width = 0
    val between = if (columnCount > 1) resources.getDimensionPixelSize(R.dimen.gap) / 2 else 0
    size.setMargins(between, 0, between, below)
    addView(view, size)
}
