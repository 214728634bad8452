package org.mobilekit.demo

import android.app.Activity
import android.os.PowerManager
import org.junit.Test
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.answers.TryActivity
import org.mobilekit.demo.artifacts.ArtifactsActivity
import org.mobilekit.demo.benchmark.BenchmarkActivity
import org.mobilekit.demo.problem.ProblemActivity
import org.mobilekit.demo.support.AppTest
import org.mobilekit.demo.support.Drawing
import org.robolectric.Shadows.shadowOf
import java.io.File
import java.util.concurrent.CountDownLatch

/**
 * Screens in light and dark, on a phone and on a tablet; `make android-screenshots` puts the drawings into the
 * documentation. What the models answer is made up here; RealModelTest draws what real ones do.
 */
class ScreenshotTest : AppTest() {
    private fun draw(
        screen: Activity,
        name: String,
    ) {
        Drawing.draw(screen, name)
        closeScreens()
    }

    private fun tried(
        name: String,
        ask: Boolean = true,
    ): TryActivity {
        val screen = open<TryActivity>(TryActivity.intent(app, name)).get()
        await("the model") { screen.session.state.opening == null }
        if (ask) {
            screen.press(R.id.example)
            screen.press(R.id.run)
            await("the answer") { screen.session.state.outcome != null }
        }
        return screen
    }

    @Test
    fun `no artifact yet`() =
        Drawing.onEachDevice { variant ->
            val screen = open<ArtifactsActivity>().get()
            await("the list") { screen.shown(R.id.empty) }
            draw(screen, "empty-$variant")
        }

    @Test
    fun artifacts() {
        push(Task.SENTENCE_EMBEDDING, "minilm-l6")
        push(Task.SEQUENCE_CLASSIFICATION, "reviews", "int4")
        push(Task.TOKEN_CLASSIFICATION, "places") { goldenError = 50f }
        push(Task.QUESTION_ANSWERING, "support") { change = { it.replace("\"schema\": 1", "\"schema\": 2") } }
        File(pushed, "words.mkpack").writeBytes(app.assets.open("artifacts/in-pack.mkpack").readBytes())
        for (name in listOf("reviews", "places")) tried(name, ask = false)
        Drawing.onEachDevice { variant ->
            val screen = open<ArtifactsActivity>().get()
            await("the list") { screen.session.state.entries != null }
            draw(screen, "artifacts-$variant")
        }
    }

    @Test
    fun `answers of each task`() {
        val names =
            mapOf(
                Task.SEQUENCE_CLASSIFICATION to "reviews",
                Task.TOKEN_CLASSIFICATION to "places",
                Task.QUESTION_ANSWERING to "support",
                Task.FILL_MASK to "words",
            )
        for ((task, name) in names) push(task, name)
        Drawing.onEachDevice { variant ->
            for ((task, name) in names) draw(tried(name), "${task.id}-$variant")
        }
    }

    @Test
    fun `a broken artifact and a failed self-check`() {
        push(Task.SEQUENCE_CLASSIFICATION, "reviews") { goldenError = 50f }
        push(Task.SEQUENCE_CLASSIFICATION, "altered").resolve("model.tflite").writeText("altered")
        Drawing.onEachDevice { variant ->
            for (name in listOf("reviews", "altered")) {
                val screen = tried(name, ask = false)
                screen.press(R.id.banner)
                draw(open<ProblemActivity>(shadowOf(screen).nextStartedActivity).get(), "problem-$name-$variant")
            }
        }
    }

    @Test
    fun benchmark() {
        push(Task.SEQUENCE_CLASSIFICATION, "reviews")
        push(Task.SEQUENCE_CLASSIFICATION, "reviews-small", "int4") { goldenError = 50f }
        push(Task.SEQUENCE_CLASSIFICATION, "altered").resolve("model.tflite").writeText("altered")
        val power = shadowOf(app.getSystemService(PowerManager::class.java))
        Drawing.onEachDevice { variant ->
            power.setCurrentThermalStatus(PowerManager.THERMAL_STATUS_MODERATE)
            val setup = open<BenchmarkActivity>().get()
            await("the list") { setup.session.state.picked.size == 3 }
            draw(setup, "benchmark-setup-$variant")
            power.setCurrentThermalStatus(PowerManager.THERMAL_STATUS_NONE)
            val screen = open<BenchmarkActivity>().get()
            await("the list") { screen.session.state.picked.size == 3 }
            val go = CountDownLatch(1)
            app.fake.onRun = { go.await() }
            screen.press(R.id.start)
            await("the run") {
                screen.session.state.progress
                    ?.share ?: 0.0 > 0.0 || app.fake.open.get() > 0
            }
            Drawing.draw(screen, "benchmark-running-$variant")
            screen.press(R.id.cancel)
            go.countDown()
            app.fake.onRun = {}
            closeScreens()
        }
    }
}
