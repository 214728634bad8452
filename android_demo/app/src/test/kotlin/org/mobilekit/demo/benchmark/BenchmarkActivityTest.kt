package org.mobilekit.demo.benchmark

import android.content.Intent
import android.net.Uri
import android.os.Looper
import android.os.PowerManager
import android.text.Editable
import android.text.TextWatcher
import android.view.View
import android.view.ViewGroup
import android.view.WindowManager
import android.widget.CheckBox
import android.widget.RadioButton
import android.widget.TextView
import org.junit.Test
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.R
import org.mobilekit.demo.problem.ProblemActivity
import org.mobilekit.demo.report.Reports
import org.mobilekit.demo.support.AppTest
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertNotNull
import kotlin.test.assertNull
import kotlin.test.assertTrue

class BenchmarkActivityTest : AppTest() {
    private fun opened(): ActivityController<BenchmarkActivity> {
        val controller = open<BenchmarkActivity>()
        await("the list") {
            controller
                .get()
                .session.state.entries != null
        }
        return controller
    }

    private fun BenchmarkActivity.picks(): List<CheckBox> {
        val picks = view(R.id.picks) as ViewGroup
        return (0 until picks.childCount).map { picks.getChildAt(it) as CheckBox }
    }

    private fun BenchmarkActivity.measure(): String {
        press(R.id.start)
        await("the end") { session.state.progress == null && (session.state.finished ?: session.state.trouble) != null }
        return words(view(R.id.results))
    }

    private fun reports() =
        Reports
            .folder(app)
            .listFiles()
            .orEmpty()
            .toList()

    /** Stop the engine in its first run, until the result is counted down. */
    private fun held(): CountDownLatch {
        val go = CountDownLatch(1)
        app.fake.onRun = { go.await() }
        return go
    }

    @Test
    fun `every figure of each artifact is in the table, and the fastest in bars`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        push(Task.SEQUENCE_CLASSIFICATION, "two", "int4")
        val said = opened().get().measure()
        assertContains(said, "A text of 128 tokens")
        for (name in listOf("one-int8, LiteRT", "two-int4, LiteRT")) assertContains(said, name)
        val rows =
            listOf("Load", "32 tokens", "128 tokens", "A text, running", "A text, text to answer", "Memory of its own")
        for (row in rows) assertEquals(2, said.lines().count { it == row }, row)
        assertEquals(2, said.lines().count { it == "Self-check passed" })
        for (entry in app.store.list()) assertTrue(assertNotNull(app.selfChecks[assertNotNull(entry.manifest)]).passed)
        assertContains(said, "(p90 ")
        assertEquals(0, app.fake.open.get())
    }

    @Test
    fun `only what is picked is measured, with the threads that were chosen`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        push(Task.SEQUENCE_CLASSIFICATION, "two")
        val screen = opened().get()
        screen.picks()[0].performClick()
        (screen.view(R.id.threads) as ViewGroup).getChildAt(0).performClick()
        await("the choice") { screen.session.state.threads == 1 && screen.session.state.picked == setOf("two") }
        screen.measure()
        val result = assertNotNull(screen.session.state.finished).result
        assertEquals(listOf("two"), result.measured.map { it.contender.name })
        assertEquals(1, result.protocol.threads)
        screen.picks()[1].performClick()
        await("nothing picked") { !screen.view(R.id.start).isEnabled }
    }

    @Test
    fun `it is cancelled, nothing is kept, and can be started again`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        val screen = opened().get()
        val go = held()
        screen.press(R.id.start)
        await("the run") { screen.shown(R.id.progress) }
        assertFalse(screen.shown(R.id.setup))
        screen.press(R.id.cancel)
        go.countDown()
        await("the end") { screen.shown(R.id.setup) && app.fake.open.get() == 0 }
        assertNull(screen.session.state.finished)
        assertEquals(emptyList(), reports())
        app.fake.onRun = {}
        assertContains(screen.measure(), "one-int8")
    }

    @Test
    fun `it runs on while the screen turns`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        val controller = opened()
        val go = held()
        controller.get().press(R.id.start)
        await("the run") { controller.get().shown(R.id.progress) }
        controller.recreate()
        val turned = controller.get()
        assertTrue(turned.shown(R.id.progress))
        go.countDown()
        await("the results") { turned.shown(R.id.results) }
        controller.recreate()
        assertContains(words(controller.get().view(R.id.results)), "one-int8")
        assertEquals(1, reports().size)
    }

    @Test
    fun `leaving ends it`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        val controller = opened()
        val go = held()
        controller.get().press(R.id.start)
        await("the run") { app.fake.open.get() == 1 }
        controller.pause().stop().destroy()
        go.countDown()
        await("the end") { app.fake.open.get() == 0 }
        assertEquals(emptyList(), reports())
    }

    @Test
    fun `what is measured while nobody sees the screen does not count`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        val controller = opened()
        val go = held()
        controller.get().press(R.id.start)
        await("the run") { app.fake.open.get() == 1 }
        controller.pause().stop()
        go.countDown()
        await("the end") { app.fake.open.get() == 0 }
        controller.restart().start().resume()
        val screen = controller.get()
        await("a message") { screen.shown(R.id.message) }
        assertContains(screen.text(R.id.message), "screen was left")
        assertTrue(screen.shown(R.id.setup))
        assertNull(screen.session.state.finished)
        assertEquals(emptyList(), reports())
    }

    @Test
    fun `a screen reader hears once that the phone is hot`() {
        val screen = opened().get()
        shadowOf(app.getSystemService(PowerManager::class.java))
            .setCurrentThermalStatus(PowerManager.THERMAL_STATUS_SEVERE)
        var said = 0
        screen.findViewById<TextView>(R.id.hot_text).doAfterChange { said++ }
        shadowOf(Looper.getMainLooper()).idleFor(20, TimeUnit.SECONDS)
        assertEquals(1, said)
    }

    private fun TextView.doAfterChange(act: () -> Unit) =
        addTextChangedListener(
            object : TextWatcher {
                override fun afterTextChanged(text: Editable) = act()

                override fun beforeTextChanged(
                    text: CharSequence,
                    start: Int,
                    count: Int,
                    after: Int,
                ) = Unit

                override fun onTextChanged(
                    text: CharSequence,
                    start: Int,
                    before: Int,
                    count: Int,
                ) = Unit
            },
        )

    @Test
    fun `the screen stays on while it measures, and no longer`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        val screen = opened().get()
        val on = { screen.window.attributes.flags and WindowManager.LayoutParams.FLAG_KEEP_SCREEN_ON != 0 }
        assertFalse(on())
        val go = held()
        screen.press(R.id.start)
        await("the run") { on() }
        go.countDown()
        await("the end") { screen.session.state.finished != null }
        assertFalse(on())
    }

    @Test
    fun `a hot phone is warned of, while it says so`() {
        val screen = opened().get()
        assertFalse(screen.shown(R.id.hot))
        val power = shadowOf(app.getSystemService(PowerManager::class.java))
        power.setCurrentThermalStatus(PowerManager.THERMAL_STATUS_SEVERE)
        shadowOf(Looper.getMainLooper()).idleFor(3, TimeUnit.SECONDS)
        assertTrue(screen.shown(R.id.hot))
        assertContains(screen.text(R.id.hot_text), "severe")
        power.setCurrentThermalStatus(PowerManager.THERMAL_STATUS_MODERATE)
        shadowOf(Looper.getMainLooper()).idleFor(3, TimeUnit.SECONDS)
        assertTrue(screen.shown(R.id.hot))
        power.setCurrentThermalStatus(PowerManager.THERMAL_STATUS_LIGHT)
        shadowOf(Looper.getMainLooper()).idleFor(3, TimeUnit.SECONDS)
        assertFalse(screen.shown(R.id.hot))
    }

    @Test
    fun `an artifact that fails is a card with its reason, and the others are measured`() {
        push(Task.SEQUENCE_CLASSIFICATION, "good")
        push(Task.SEQUENCE_CLASSIFICATION, "altered").resolve("model.tflite").writeText("altered")
        push(Task.SEQUENCE_CLASSIFICATION, "foreign") { change = { it.replace("\"tflite\"", "\"coreml\"") } }
        val said = opened().get().measure()
        assertContains(said, "model.tflite is missing or altered")
        assertContains(said, "no engine for coreml")
        assertContains(said, "good-int8, LiteRT")
    }

    @Test
    fun `errors and no memory while it measures are messages`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        val screen = opened().get()
        for (error in listOf(IllegalStateException("kernel panic"), OutOfMemoryError("no more"))) {
            app.fake.onRun = { throw error }
            screen.press(R.id.start)
            await("a message") { screen.session.state.run { progress == null && (finished ?: trouble) != null } }
            val said = words(screen.view(R.id.content))
            assertTrue("kernel panic" in said || "memory" in said, said)
            assertEquals(0, app.fake.open.get())
        }
    }

    @Test
    fun `nothing that can be measured is a message`() {
        push(Task.SEQUENCE_CLASSIFICATION, "altered").resolve("model.tflite").writeText("altered")
        val screen = opened().get()
        screen.measure()
        assertContains(screen.text(R.id.message), "missing or altered")
    }

    @Test
    fun `a self-check that failed is in the table, and explained`() {
        push(Task.SEQUENCE_CLASSIFICATION, "wrong") { goldenError = 50f }
        val screen = opened().get()
        assertContains(screen.measure(), "Self-check failed")
        clickable(screen.view(R.id.results)).first().performClick()
        val problem = open<ProblemActivity>(shadowOf(screen).nextStartedActivity).get()
        assertContains(words(problem.view(R.id.checks)), "Output: failed")
    }

    private fun clickable(view: View): List<View> =
        listOf(view).filter { it.isClickable } +
            if (view is ViewGroup) (0 until view.childCount).flatMap { clickable(view.getChildAt(it)) } else emptyList()

    @Test
    fun `the report is shared to be read, through the app's own provider`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        val screen = opened().get()
        screen.measure()
        screen.view(R.id.share_report).performClick()
        val chooser = shadowOf(screen).nextStartedActivity
        val send = assertNotNull(chooser.getParcelableExtra(Intent.EXTRA_INTENT, Intent::class.java))
        assertEquals(Intent.ACTION_SEND, send.action)
        assertEquals("application/json", send.type)
        assertEquals(Intent.FLAG_GRANT_READ_URI_PERMISSION, send.flags and Intent.FLAG_GRANT_READ_URI_PERMISSION)
        assertEquals(0, send.flags and Intent.FLAG_GRANT_WRITE_URI_PERMISSION)
        val address = assertNotNull(send.getParcelableExtra(Intent.EXTRA_STREAM, Uri::class.java))
        assertEquals(address, send.clipData?.getItemAt(0)?.uri)
        val text = assertNotNull(app.contentResolver.openInputStream(address)).use { it.readBytes().decodeToString() }
        assertEquals(reports().single().readText(), text)
        for (part in listOf("\"synthetic\": true", "\"name\": \"one\"", "built-in")) assertContains(text, part)
    }

    @Test
    fun `without artifacts there is nothing to start`() {
        val screen = opened().get()
        assertFalse(screen.view(R.id.start).isEnabled)
        assertTrue((screen.view(R.id.threads) as ViewGroup).getChildAt(0) is RadioButton)
    }
}
