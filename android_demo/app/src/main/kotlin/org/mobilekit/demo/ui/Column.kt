package org.mobilekit.demo.ui

import android.content.Context
import android.util.AttributeSet
import android.view.View.MeasureSpec
import android.widget.LinearLayout
import org.mobilekit.demo.R

/** A column in the middle of the window, no wider than lines of text are read well. */
class Column(
    context: Context,
    attributes: AttributeSet? = null,
) : LinearLayout(context, attributes) {
    private val most = resources.getDimensionPixelSize(R.dimen.column_max)
    private val gutter = resources.getDimensionPixelSize(R.dimen.gutter)

    override fun onMeasure(
        widthMeasureSpec: Int,
        heightMeasureSpec: Int,
    ) {
        val side = maxOf(gutter, (MeasureSpec.getSize(widthMeasureSpec) - most) / 2)
        if (paddingLeft != side) setPadding(side, paddingTop, side, paddingBottom)
        super.onMeasure(widthMeasureSpec, heightMeasureSpec)
    }
}
