package org.mobilekit.demo.ui

import android.annotation.TargetApi
import android.app.Activity
import android.os.Build
import android.text.TextUtils
import android.view.LayoutInflater
import android.view.View
import android.view.ViewGroup
import android.view.WindowInsets
import android.widget.TextView
import org.mobilekit.demo.R

/**
 * Show [layout] (a `merge`) in a column that scrolls, under a title.
 *
 * The screen reaches under the system's bars, as Android 15 has it; what is on it keeps clear of them, of cut-outs and
 * of the keyboard.
 */
internal fun Activity.setScreen(
    layout: Int,
    title: CharSequence,
    subtitle: CharSequence = "",
    back: Boolean = true,
) {
    setContentView(R.layout.screen)
    layoutInflater.inflate(layout, findViewById(R.id.content), true)
    setHeader(title, subtitle)
    findViewById<View>(R.id.back).run {
        visibility = if (back) View.VISIBLE else View.GONE
        setOnClickListener { finish() }
    }
    if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.R) {
        window.setDecorFitsSystemWindows(false)
        keepClearOfBars(findViewById(R.id.screen))
    }
}

/** Change the words over a screen. */
internal fun Activity.setHeader(
    title: CharSequence,
    subtitle: CharSequence,
) {
    this.title = title
    findViewById<TextView>(R.id.title).text = title
    findViewById<TextView>(R.id.subtitle).run {
        text = subtitle
        visibility = if (subtitle.isEmpty()) View.GONE else View.VISIBLE
    }
}

/** Show a view, or take it out of the layout. */
internal var View.shown: Boolean
    get() = visibility == View.VISIBLE
    set(value) {
        visibility = if (value) View.VISIBLE else View.GONE
    }

/** What a view says; written where it changes alone, since screen readers read again whatever is written. */
internal var TextView.said: CharSequence?
    get() = text
    set(value) {
        if (!TextUtils.equals(text, value ?: "")) text = value
    }

/** Inflate [layout] without adding it. */
internal fun ViewGroup.inflate(layout: Int): View = LayoutInflater.from(context).inflate(layout, this, false)

@TargetApi(Build.VERSION_CODES.R)
private fun keepClearOfBars(screen: View) {
    screen.setOnApplyWindowInsetsListener { view, insets ->
        val types = WindowInsets.Type.systemBars() or WindowInsets.Type.displayCutout() or WindowInsets.Type.ime()
        val clear = insets.getInsets(types)
        view.setPadding(clear.left, clear.top, clear.right, clear.bottom)
        WindowInsets.CONSUMED
    }
}
