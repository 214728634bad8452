package org.mobilekit.demo

import org.junit.Test
import org.mobilekit.demo.artifacts.ArtifactsActivity
import org.mobilekit.demo.support.AppTest
import org.mobilekit.demo.support.Drawing

/** Every screen, drawn. */
class ScreenshotTest : AppTest() {
    @Test
    fun `no artifact yet`() {
        val screen = open<ArtifactsActivity>().get()
        await("the list") { screen.shown(R.id.empty) }
        Drawing.draw(screen, "empty")
    }
}
