package org.mobilekit.demo

import android.view.ViewGroup
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.boolean
import kotlinx.serialization.json.double
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import org.junit.Before
import org.junit.Test
import org.mobilekit.core.text.TokenizerReader
import org.mobilekit.demo.answers.TryActivity
import org.mobilekit.demo.benchmark.BenchmarkActivity
import org.mobilekit.demo.support.AppTest
import org.mobilekit.demo.support.Drawing
import org.mobilekit.demo.ui.Numbers
import org.mobilekit.hostengine.HostLiteRtLibrary
import java.io.File
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertNotNull
import kotlin.test.assertTrue

/** The app on files of mobilekit's exporter, with a real engine: scripts/android_vectors.py. */
class RealModelTest : AppTest() {
    private val models: File by lazy {
        File(checkNotNull(System.getProperty("mobilekit.vectors")) { "needs -Dmobilekit.vectors=FOLDER" }, "models")
    }

    @Before
    fun realEngine() {
        app.library = HostLiteRtLibrary()
        app.tokenizer = { TokenizerReader.read(it.tokenizerFile) }
    }

    private fun opened(name: String): TryActivity {
        val folder = File(pushed, name)
        if (!folder.exists()) File(models, "$name/artifact").copyRecursively(folder)
        val screen = open<TryActivity>(TryActivity.intent(app, name)).get()
        await("the model") { screen.session.state.opening == null }
        assertEquals(null, screen.session.state.refused)
        return screen
    }

    private fun TryActivity.ask(
        first: String,
        second: String,
    ): String {
        type(R.id.first, first)
        type(R.id.second, second)
        press(R.id.run)
        await("an answer") { !session.state.asking }
        return words(view(R.id.answer))
    }

    private fun runs(name: String): List<Map<String, JsonElement>> =
        Json
            .parseToJsonElement(File(models, "$name/expected.json").readText())
            .jsonObject
            .getValue("runs")
            .jsonArray
            .map { it.jsonObject }
            // The screen trims no texts, and asks for one that is more than spaces.
            .filter {
                it
                    .getValue("text")
                    .jsonPrimitive.content
                    .isNotBlank()
            }

    @Test
    fun `labels on the screen are those of mobilekit run`() {
        val name = "bert-sequence-classification-int8"
        val screen = opened(name)
        assertTrue(assertNotNull(screen.session.state.selfCheck).passed)
        for (run in runs(name).take(TEXTS)) {
            val pair =
                run
                    .getValue("pair")
                    .takeIf { it !is JsonNull }
                    ?.jsonPrimitive
                    ?.content
                    .orEmpty()
            val said = screen.ask(run.getValue("text").jsonPrimitive.content, pair).lines()
            val items = run.getValue("items").jsonArray.map { it.jsonObject }
            val best = items.filter { it.getValue("chosen").jsonPrimitive.boolean }
            assertEquals(best.joinToString(", ") { it.getValue("label").jsonPrimitive.content }, said.first())
            for (item in items) {
                val share = said[said.lastIndexOf(item.getValue("label").jsonPrimitive.content) + 1]
                val expected = Numbers.percent(item.getValue("score").jsonPrimitive.double)
                // Kernels of the host's engine round activations otherwise than Python's.
                assertEquals(number(expected), number(share), POINTS, "$share for $expected")
            }
        }
    }

    private fun number(percent: String): Double = percent.filter { it.isDigit() || it == '.' }.toDouble()

    @Test
    fun `the built-in model finds the nearest of some texts`() {
        val name = "minilm-l6-sentence-embedding-int8"
        Drawing.onEachDevice { variant ->
            val screen = opened(name)
            assertTrue(assertNotNull(screen.session.state.selfCheck).passed, "${screen.session.state.selfCheck}")
            screen.press(R.id.example)
            screen.press(R.id.run)
            await("an answer") { screen.session.state.outcome != null }
            val answer = words(screen.view(R.id.answer) as ViewGroup).lines()
            // Of a parcel that has not arrived: its delivery is nearest, a password is furthest.
            assertContains(answer[2], "The delivery is three days late.")
            assertContains(answer[6], "I would like to change my password.")
            Drawing.draw(screen, "sentence-embedding-$variant")
            closeScreens()
        }
    }

    @Test
    fun `real files are measured, each checks itself, and the results are shown`() {
        val names = listOf("fp32", "int8", "int4").map { "bert-sequence-classification-$it" }
        for (name in names) File(models, "$name/artifact").copyRecursively(File(pushed, name))
        val controller = open<BenchmarkActivity>()
        await("the list") {
            controller
                .get()
                .session.state.entries != null
        }
        // Two threads wait for each other on a machine that is busy.
        (controller.get().view(R.id.threads) as ViewGroup).getChildAt(0).performClick()
        await("the choice") {
            controller
                .get()
                .session.state.threads == 1
        }
        controller.get().press(R.id.start)
        await("the results", seconds = 120) {
            controller
                .get()
                .session.state
                .run { finished != null || trouble != null }
        }
        val measured =
            assertNotNull(
                controller
                    .get()
                    .session.state.finished,
            ).result.measured
        assertEquals(names.toSet(), measured.map { it.contender.name }.toSet())
        for (each in measured) {
            assertEquals(null, each.error)
            assertTrue(assertNotNull(each.selfCheck).passed, "${each.selfCheck}")
            assertTrue(each.lengths.values.all { it.medianMs > 0 } && assertNotNull(each.textPipeline).medianMs > 0)
        }
        Drawing.onEachDevice { variant ->
            controller.recreate()
            await("the results again") { controller.get().shown(R.id.results) }
            Drawing.draw(controller.get(), "benchmark-results-$variant")
        }
    }

    private companion object {
        const val TEXTS = 25
        const val POINTS = 0.6
    }
}
