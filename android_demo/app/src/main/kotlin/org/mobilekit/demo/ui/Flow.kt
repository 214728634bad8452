package org.mobilekit.demo.ui

import android.content.Context
import android.util.AttributeSet
import android.view.View
import android.view.ViewGroup
import org.mobilekit.demo.R

/** Children in lines, as words are: what does not fit goes to the next line. */
class Flow(
    context: Context,
    attributes: AttributeSet? = null,
) : ViewGroup(context, attributes) {
    private val gap = resources.getDimensionPixelSize(R.dimen.flow_gap)

    override fun onMeasure(
        widthMeasureSpec: Int,
        heightMeasureSpec: Int,
    ) {
        val unlimited = MeasureSpec.getMode(widthMeasureSpec) == MeasureSpec.UNSPECIFIED
        val width = if (unlimited) Int.MAX_VALUE / 2 else MeasureSpec.getSize(widthMeasureSpec)
        measureChildren(MeasureSpec.makeMeasureSpec(width, MeasureSpec.AT_MOST), MeasureSpec.UNSPECIFIED)
        val (right, bottom) = place(width) { _, _, _ -> }
        setMeasuredDimension(resolveSize(right, widthMeasureSpec), resolveSize(bottom, heightMeasureSpec))
    }

    override fun onLayout(
        changed: Boolean,
        left: Int,
        top: Int,
        right: Int,
        bottom: Int,
    ) {
        val mirrored = layoutDirection == LAYOUT_DIRECTION_RTL
        place(width) { child, x, y ->
            val start = if (mirrored) width - x - child.measuredWidth else x
            child.layout(start, y, start + child.measuredWidth, y + child.measuredHeight)
        }
    }

    /** Give each child its place; returns how far they reach. */
    private fun place(
        width: Int,
        each: (child: View, x: Int, y: Int) -> Unit,
    ): Pair<Int, Int> {
        var x = 0
        var y = 0
        var line = 0
        var reach = 0
        for (child in (0 until childCount).map(::getChildAt).filter { it.visibility != GONE }) {
            if (x > 0 && x + child.measuredWidth > width) {
                x = 0
                y += line + gap
                line = 0
            }
            each(child, x, y)
            reach = maxOf(reach, x + child.measuredWidth)
            line = maxOf(line, child.measuredHeight)
            x += child.measuredWidth + gap
        }
        return reach to y + line
    }
}
