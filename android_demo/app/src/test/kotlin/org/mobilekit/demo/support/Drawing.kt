package org.mobilekit.demo.support

import android.app.Activity
import android.graphics.Bitmap
import android.graphics.Canvas
import android.view.View
import android.view.View.MeasureSpec
import org.robolectric.RuntimeEnvironment
import java.io.File
import kotlin.test.assertTrue

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
        refuseEmpty(drawn, name)
        if (folder != null) {
            folder.mkdirs()
            File(folder, "$name.png").outputStream().use { drawn.compress(Bitmap.CompressFormat.PNG, 100, it) }
        }
        return drawn
    }

    /** Do [draw] for a phone and a tablet, in light and dark; it gets the name of each. */
    fun onEachDevice(draw: (variant: String) -> Unit) {
        for ((device, size) in DEVICES) {
            for ((colours, mode) in COLOURS) {
                RuntimeEnvironment.setQualifiers(size.format(mode))
                draw("$device-$colours")
            }
        }
    }

    /** Nobody looks at every drawing in every build: one of an empty window has hardly a colour. */
    private fun refuseEmpty(
        drawn: Bitmap,
        name: String,
    ) {
        val colours = HashSet<Int>()
        for (y in 0 until drawn.height step STEP) {
            for (x in 0 until drawn.width step STEP) {
                colours +=
                    drawn.getPixel(x, y)
            }
        }
        assertTrue(colours.size >= LEAST_COLOURS, "$name has ${colours.size} colours")
    }

    private val DEVICES =
        mapOf("phone" to "w411dp-h891dp-port-%s-xhdpi", "tablet" to "w1280dp-h800dp-land-%s-mdpi")
    private val COLOURS = mapOf("light" to "notnight", "dark" to "night")
    private const val STEP = 7
    private const val LEAST_COLOURS = 8
}
