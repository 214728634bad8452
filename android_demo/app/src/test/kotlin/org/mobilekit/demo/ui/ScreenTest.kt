package org.mobilekit.demo.ui

import android.app.Activity
import android.content.ComponentName
import android.content.pm.ActivityInfo
import android.graphics.Bitmap
import android.graphics.Canvas
import android.graphics.Insets
import android.view.View
import android.view.View.MeasureSpec
import android.view.ViewGroup
import android.view.WindowInsets
import android.view.WindowManager
import android.widget.ScrollView
import org.junit.Test
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.R
import org.mobilekit.demo.answers.TryActivity
import org.mobilekit.demo.artifacts.ArtifactsActivity
import org.mobilekit.demo.benchmark.BenchmarkActivity
import org.mobilekit.demo.problem.ProblemActivity
import org.mobilekit.demo.support.AppTest
import org.robolectric.RuntimeEnvironment
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertTrue

class ScreenTest : AppTest() {
    private fun opened(): List<Activity> {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        val list = open<ArtifactsActivity>().get()
        await("the list") { list.session.state.entries != null }
        val answers = open<TryActivity>(TryActivity.intent(app, "one")).get()
        await("the model") { answers.session.state.opening == null }
        val benchmark = open<BenchmarkActivity>().get()
        await("the list") { benchmark.session.state.entries != null }
        return listOf(list, answers, benchmark)
    }

    private fun all(view: View): List<View> =
        listOf(view) +
            if (view is ViewGroup) (0 until view.childCount).flatMap { all(view.getChildAt(it)) } else emptyList()

    @Test
    fun `nothing lies under bars, cut-outs and the keyboard`() {
        for (screen in opened()) {
            val insets =
                WindowInsets
                    .Builder()
                    .setInsets(WindowInsets.Type.systemBars(), Insets.of(0, 48, 0, 96))
                    .setInsets(WindowInsets.Type.displayCutout(), Insets.of(60, 0, 0, 0))
                    .setInsets(WindowInsets.Type.ime(), Insets.of(0, 0, 0, 700))
                    .build()
            val root = screen.view(R.id.screen)
            root.dispatchApplyWindowInsets(insets)
            assertEquals(
                listOf(60, 48, 0, 700),
                root.run { listOf(paddingLeft, paddingTop, paddingRight, paddingBottom) },
            )
        }
    }

    @Test
    fun `what can be pressed is as large as a finger`() {
        for (screen in opened()) {
            val least = screen.resources.getDimensionPixelSize(R.dimen.touch)
            for (view in all(screen.view(R.id.content)).filter { it.isClickable && it.isShown }) {
                assertTrue(view.height >= least && view.width >= least, "$screen: $view")
            }
        }
    }

    @Test
    fun `large text stays on the screen`() {
        RuntimeEnvironment.setFontScale(2f)
        for (screen in opened()) {
            val content = screen.view(R.id.content)
            for (view in all(content).filter { it.isShown && it.width > 0 }) {
                val at = IntArray(2)
                view.getLocationInWindow(at)
                assertTrue(at[0] >= 0 && at[0] + view.width <= screen.view(R.id.screen).width, "$screen: $view")
            }
            assertTrue(
                (screen.view(R.id.scroll) as ScrollView).canScrollVertically(1) ||
                    content.height <= screen.view(R.id.screen).height,
            )
        }
    }

    @Test
    fun `two taps open one screen`() {
        for (screen in listOf(TryActivity::class, BenchmarkActivity::class, ProblemActivity::class)) {
            val info = app.packageManager.getActivityInfo(ComponentName(app, screen.java), 0)
            assertEquals(ActivityInfo.LAUNCH_SINGLE_TOP, info.launchMode, "${screen.java}")
        }
    }

    @Test
    fun `the keyboard makes the screen to type in smaller`() {
        val info = app.packageManager.getActivityInfo(ComponentName(app, TryActivity::class.java), 0)
        val mode = info.softInputMode and WindowManager.LayoutParams.SOFT_INPUT_MASK_ADJUST
        @Suppress("DEPRECATION")
        assertEquals(WindowManager.LayoutParams.SOFT_INPUT_ADJUST_RESIZE, mode)
    }

    @Test
    fun `bars and pills begin on the right where texts do`() {
        val bar = Bar(app)
        bar.layoutDirection = View.LAYOUT_DIRECTION_RTL
        bar.share = 0.5
        bar.layout(0, 0, 100, 10)
        val drawn = Bitmap.createBitmap(100, 10, Bitmap.Config.ARGB_8888)
        bar.draw(Canvas(drawn))
        val colours = listOf(20, 80).map { drawn.getPixel(it, 5) }
        assertEquals(listOf(R.color.track, R.color.accent).map(app::getColor), colours)
        val flow = Flow(app)
        flow.layoutDirection = View.LAYOUT_DIRECTION_RTL
        repeat(2) { flow.addView(View(app), ViewGroup.LayoutParams(20, 10)) }
        flow.measure(MeasureSpec.makeMeasureSpec(100, MeasureSpec.EXACTLY), MeasureSpec.UNSPECIFIED)
        flow.layout(0, 0, 100, 10)
        assertEquals(80, flow.getChildAt(0).left)
        assertTrue(flow.getChildAt(1).right < 80)
    }

    @Test
    fun `columns are no wider than lines that are read well`() {
        RuntimeEnvironment.setQualifiers("w700dp-h1000dp-port-mdpi")
        val screen = open<ArtifactsActivity>().get()
        val content = screen.view(R.id.content)
        assertEquals(640, content.width - content.paddingLeft - content.paddingRight)
        assertEquals(content.paddingLeft, content.paddingRight)
    }

    @Test
    fun `bars and matrices draw whatever figures they get`() {
        val bar = Bar(app)
        for (share in listOf(Double.NaN, -1.0, 0.0, 2.0, Double.POSITIVE_INFINITY)) {
            bar.share = share
            bar.layout(0, 0, 100, 10)
            bar.draw(
                Canvas(Bitmap.createBitmap(100, 10, Bitmap.Config.ARGB_8888)),
            )
            assertFalse(bar.share > 1)
        }
    }
}
