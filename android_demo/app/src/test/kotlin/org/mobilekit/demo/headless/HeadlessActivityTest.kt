package org.mobilekit.demo.headless

import android.content.Intent
import android.os.PowerManager
import android.view.WindowManager
import org.junit.Test
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.support.AppTest
import org.robolectric.Shadows.shadowOf
import java.io.File
import java.util.concurrent.CountDownLatch
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertTrue

class HeadlessActivityTest : AppTest() {
    private val reports: File get() = checkNotNull(app.getExternalFilesDir("reports"))

    private fun intent(
        run: String?,
        vararg artifacts: String,
    ): Intent {
        val intent = Intent(app, HeadlessActivity::class.java)
        if (run != null) intent.putExtra("run", run)
        if (artifacts.isNotEmpty()) intent.putExtra("artifacts", arrayOf(*artifacts))
        return intent
    }

    private fun started(intent: Intent): List<String> {
        val screen = open<HeadlessActivity>(intent).get()
        await("the end") { screen.isFinishing }
        return reports.list().orEmpty().sorted()
    }

    @Test
    fun `all artifacts are measured, and the report is written where adb finds it`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        push(Task.SEQUENCE_CLASSIFICATION, "two")
        assertEquals(listOf("run-1.json"), started(intent("run-1").putExtra("threads", 3)))
        val report = File(reports, "run-1.json").readText()
        for (part in listOf("\"name\": \"one\"", "\"name\": \"two\"", "\"threads\": 3", "\"kind\": \"android\"")) {
            assertContains(report, part)
        }
        // A copy for whoever reads reports in Python: tests/android/test_app_report.py.
        System
            .getProperty("app.report")
            .orEmpty()
            .takeIf { it.isNotEmpty() }
            ?.let { File(it).writeText(report) }
    }

    @Test
    fun `a report says how hot the phone was before and after`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        val power = shadowOf(app.getSystemService(PowerManager::class.java))
        power.setCurrentThermalStatus(PowerManager.THERMAL_STATUS_LIGHT)
        app.fake.onRun = { power.setCurrentThermalStatus(PowerManager.THERMAL_STATUS_SEVERE) }
        started(intent("hot"))
        val report = File(reports, "hot.json").readText()
        assertContains(report, "\"thermal_before\": \"light\"")
        assertContains(report, "\"thermal_after\": \"severe\"")
    }

    @Test
    fun `only the artifacts that are named are measured`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        push(Task.SEQUENCE_CLASSIFICATION, "two")
        started(intent("run-2", "two"))
        val report = File(reports, "run-2.json").readText()
        assertContains(report, "\"name\": \"two\"")
        assertTrue("\"name\": \"one\"" !in report)
    }

    @Test
    fun `what goes wrong is a line where adb finds it`() {
        assertEquals(listOf("none.error"), started(intent("none")))
        assertContains(File(reports, "none.error").readText(), "no artifact to measure")
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        assertContains(started(intent("foreign", "three")), "foreign.error")
        assertContains(File(reports, "foreign.error").readText(), "three: no such artifact")
        assertContains(started(intent("threads").putExtra("threads", 0)), "threads.error")
        assertContains(File(reports, "threads.error").readText(), "0 threads")
    }

    @Test
    fun `an artifact that was asked for and cannot be measured is told, with the reason`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        push(Task.SEQUENCE_CLASSIFICATION, "two").resolve("model.tflite").writeText("altered")
        assertEquals(listOf("both.error"), started(intent("both", "one", "two")))
        assertContains(File(reports, "both.error").readText(), "two: model.tflite is missing or altered")
        assertContains(started(intent("all")), "all.json")
    }

    @Test
    fun `a disk that takes no error does not end the app`() {
        File(reports, ".partial-full/in-the-way").mkdirs()
        assertEquals(emptyList(), uncaught { started(intent("full")) })
    }

    @Test
    fun `an app that is closed before it is done says so`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        val go = CountDownLatch(1)
        app.fake.onRun = { go.await() }
        val controller = open<HeadlessActivity>(intent("closed"))
        await("the run") { app.fake.open.get() == 1 }
        val flags =
            controller
                .get()
                .window.attributes.flags
        assertTrue(flags and WindowManager.LayoutParams.FLAG_KEEP_SCREEN_ON != 0)
        controller.pause().stop().destroy()
        go.countDown()
        await("the error") { reports.list().orEmpty().contains("closed.error") }
        assertContains(File(reports, "closed.error").readText(), "closed before it was done")
        assertEquals(0, app.fake.open.get())
    }

    @Test
    fun `a name that leads elsewhere writes nothing`() {
        push(Task.SEQUENCE_CLASSIFICATION, "one")
        for (name in listOf(null, "", ".hidden", "../up", "a/b", "a b", "ä", "x".repeat(81))) {
            assertEquals(emptyList(), started(intent(name)), "$name")
        }
        assertEquals(
            setOf("artifacts", "reports"),
            reports.parentFile
                ?.list()
                .orEmpty()
                .toSet(),
        )
    }
}
