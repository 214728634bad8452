package org.mobilekit.demo.ui

import android.content.Context
import android.graphics.Canvas
import android.graphics.Paint
import android.util.AttributeSet
import android.view.View
import org.mobilekit.demo.R

/** A share of a whole, as a bar. What it says stands in text beside it, so it is silent to screen readers. */
class Bar(
    context: Context,
    attributes: AttributeSet? = null,
) : View(context, attributes) {
    /** 0 to 1; what is outside is drawn as the nearest end. */
    var share: Double = 0.0
        set(value) {
            field = value.coerceIn(0.0, 1.0)
            invalidate()
        }

    /** Whether it belongs to the answer; drawn in the accent then. */
    var chosen: Boolean = true
        set(value) {
            field = value
            invalidate()
        }

    private val paint = Paint(Paint.ANTI_ALIAS_FLAG)

    init {
        importantForAccessibility = IMPORTANT_FOR_ACCESSIBILITY_NO
    }

    override fun onDraw(canvas: Canvas) {
        val round = height / 2f
        paint.color = context.getColor(R.color.track)
        canvas.drawRoundRect(0f, 0f, width.toFloat(), height.toFloat(), round, round, paint)
        if (share.isNaN() || share == 0.0) return
        val long = maxOf(width * share.toFloat(), height.toFloat())
        val from = if (layoutDirection == LAYOUT_DIRECTION_RTL) width - long else 0f
        paint.color = context.getColor(if (chosen) R.color.accent else R.color.disabled)
        canvas.drawRoundRect(from, 0f, from + long, height.toFloat(), round, round, paint)
    }
}
