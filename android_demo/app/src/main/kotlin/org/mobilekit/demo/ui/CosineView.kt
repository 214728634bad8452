package org.mobilekit.demo.ui

import android.content.Context
import android.graphics.Canvas
import android.graphics.Paint
import android.graphics.Typeface
import android.util.AttributeSet
import android.view.View
import org.mobilekit.demo.R
import java.util.Locale

/** Cosines of every text with every other: the nearer, the stronger the colour. */
class CosineView(
    context: Context,
    attributes: AttributeSet? = null,
) : View(context, attributes) {
    /** `[n][n]`, n at least 1. */
    var cosines: List<DoubleArray> = emptyList()
        set(value) {
            field = value
            contentDescription = spoken()
            requestLayout()
        }

    private val fill = Paint(Paint.ANTI_ALIAS_FLAG)
    private val text =
        Paint(Paint.ANTI_ALIAS_FLAG).apply {
            textAlign = Paint.Align.CENTER
            typeface = Typeface.create("sans-serif-medium", Typeface.NORMAL)
        }
    private val margin = resources.getDimension(R.dimen.matrix_margin)
    private val most = resources.getDimension(R.dimen.matrix_cell)
    private val gap = resources.displayMetrics.density * 2

    override fun onMeasure(
        widthMeasureSpec: Int,
        heightMeasureSpec: Int,
    ) {
        val width = MeasureSpec.getSize(widthMeasureSpec)
        val high = margin + cell(width) * cosines.size
        setMeasuredDimension(width, resolveSize(high.toInt(), heightMeasureSpec))
    }

    override fun onDraw(canvas: Canvas) {
        val side = cell(width)
        text.textSize = minOf(side * TEXT_OF_CELL, resources.getDimension(R.dimen.matrix_text))
        val lift = (text.ascent() + text.descent()) / 2
        for ((row, values) in cosines.withIndex()) {
            val middle = margin + side * (row + HALF)
            text.color = context.getColor(R.color.text_secondary)
            canvas.drawText("${row + 1}", margin / 2, middle - lift, text)
            canvas.drawText("${row + 1}", middle, margin / 2 - lift, text)
            for ((column, value) in values.withIndex()) {
                drawCell(canvas, margin + side * column, margin + side * row, side, value)
                text.color = context.getColor(if (strong(value)) R.color.on_accent else R.color.text_primary)
                canvas.drawText(twoDigits(value), margin + side * (column + HALF), middle - lift, text)
            }
        }
    }

    private fun drawCell(
        canvas: Canvas,
        left: Float,
        top: Float,
        side: Float,
        value: Double,
    ) {
        val round = side * ROUND_OF_CELL
        fill.color = context.getColor(R.color.track)
        canvas.drawRoundRect(left + gap, top + gap, left + side - gap, top + side - gap, round, round, fill)
        fill.color = context.getColor(R.color.accent)
        fill.alpha = (value.coerceIn(0.0, 1.0) * OPAQUE).toInt()
        canvas.drawRoundRect(left + gap, top + gap, left + side - gap, top + side - gap, round, round, fill)
    }

    private fun cell(width: Int): Float = if (cosines.isEmpty()) 0f else minOf(most, (width - margin) / cosines.size)

    private fun strong(value: Double): Boolean = value > STRONG

    private fun spoken(): String =
        cosines.indices
            .flatMap { row ->
                (0 until row).map {
                    context.getString(
                        R.string.cosine_spoken,
                        it + 1,
                        row + 1,
                        twoDigits(cosines[row][it]),
                    )
                }
            }.joinToString(" ")

    private fun twoDigits(value: Double): String = String.format(Locale.getDefault(), "%.2f", value)

    private companion object {
        const val HALF = 0.5f
        const val TEXT_OF_CELL = 0.32f
        const val ROUND_OF_CELL = 0.16f
        const val OPAQUE = 255

        /** Above it the cell is so dark that light text is read better. */
        const val STRONG = 0.6
    }
}
