package org.mobilekit.demo.support

import android.app.Activity
import android.graphics.Bitmap
import android.graphics.Canvas
import android.view.View
import android.view.View.MeasureSpec
import java.io.File

/** Draws screens to files, where the property `screenshots` names a folder. */
object Drawing {
    private val folder: File? =
        System
            .getProperty("screenshots")
            .orEmpty()
            .takeIf { it.isNotEmpty() }
            ?.let(::File)

    /** The screen as it stands, in [name].png; as high as the window, or as its content, whichever is more. */
    fun draw(
        screen: Activity,
        name: String,
    ): Bitmap {
        val window = screen.window.decorView
        val content = screen.findViewById<View>(org.mobilekit.demo.R.id.content)
        val height = maxOf(window.height, content.height)
        window.measure(
            MeasureSpec.makeMeasureSpec(window.width, MeasureSpec.EXACTLY),
            MeasureSpec.makeMeasureSpec(height, MeasureSpec.EXACTLY),
        )
        window.layout(0, 0, window.measuredWidth, window.measuredHeight)
        val drawn = Bitmap.createBitmap(window.width, window.height, Bitmap.Config.ARGB_8888)
        window.draw(Canvas(drawn))
        if (folder != null) {
            folder.mkdirs()
            File(folder, "$name.png").outputStream().use { drawn.compress(Bitmap.CompressFormat.PNG, 100, it) }
        }
        return drawn
    }
}
