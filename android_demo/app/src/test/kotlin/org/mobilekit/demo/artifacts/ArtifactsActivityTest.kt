package org.mobilekit.demo.artifacts

import android.view.ViewGroup
import org.junit.Test
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.R
import org.mobilekit.demo.answers.TryActivity
import org.mobilekit.demo.benchmark.BenchmarkActivity
import org.mobilekit.demo.problem.ProblemActivity
import org.mobilekit.demo.support.AppTest
import org.robolectric.Shadows.shadowOf
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertTrue

class ArtifactsActivityTest : AppTest() {
    private fun ArtifactsActivity.cards(): List<String> {
        val cards = view(R.id.cards) as ViewGroup
        return (0 until cards.childCount).map { words(cards.getChildAt(it)) }
    }

    private fun opened(): ArtifactsActivity {
        val screen = open<ArtifactsActivity>().get()
        await("the list") { !screen.shown(R.id.loading) }
        return screen
    }

    @Test
    fun `without artifacts it says how to add one`() {
        val screen = opened()
        assertTrue(screen.shown(R.id.empty))
        assertFalse(screen.shown(R.id.benchmark))
        assertContains(screen.text(R.id.push_command), "/sdcard/Android/data/org.mobilekit.demo/files/artifacts/")
    }

    @Test
    fun `an artifact that is pushed meanwhile is found`() {
        val screen = opened()
        push(Task.SEQUENCE_CLASSIFICATION, "late")
        screen.press(R.id.again)
        await("the artifact") { screen.cards().size == 1 }
        assertFalse(screen.shown(R.id.empty))
        assertTrue(screen.shown(R.id.benchmark))
    }

    @Test
    fun `a card says model, task, scheme, engine, size and state`() {
        push(Task.SEQUENCE_CLASSIFICATION, "moods", "int4")
        val card = opened().cards().single()
        for (words in listOf(
            "moods",
            "Text classification",
            "int4",
            "LiteRT",
            "4.1 kB",
            "Ready",
        )) {
            assertContains(card, words)
        }
    }

    @Test
    fun `packs and copies to be made say so`() {
        app.assetFolder = "artifacts"
        val cards = opened().cards()
        assertEquals(2, cards.size)
        assertContains(cards[0], "Copied on first use")
        assertContains(cards[1], "unpacked on first use")
    }

    @Test
    fun `an artifact is tried, a broken one is explained`() {
        push(Task.SEQUENCE_CLASSIFICATION, "a-good")
        push(Task.SEQUENCE_CLASSIFICATION, "broken") { change = { it.take(100) } }
        val screen = opened()
        val cards = screen.view(R.id.cards) as ViewGroup
        assertContains(words(cards.getChildAt(1)), "Broken")
        cards.getChildAt(0).performClick()
        assertEquals(TryActivity::class.java.name, shadowOf(screen).nextStartedActivity.component?.className)
        cards.getChildAt(1).performClick()
        assertEquals(ProblemActivity::class.java.name, shadowOf(screen).nextStartedActivity.component?.className)
        screen.press(R.id.benchmark)
        assertEquals(BenchmarkActivity::class.java.name, shadowOf(screen).nextStartedActivity.component?.className)
    }

    @Test
    fun `what an artifact said of itself stands on its card`() {
        push(Task.SEQUENCE_CLASSIFICATION, "a-good")
        push(Task.SEQUENCE_CLASSIFICATION, "wrong") { goldenError = 50f }
        for (name in listOf("a-good", "wrong")) {
            val screen = open<TryActivity>(TryActivity.intent(app, name)).get()
            await("the check") { screen.session.state.opening == null }
        }
        val cards = opened().cards()
        assertContains(cards[0], "Self-check passed")
        assertContains(cards[1], "Self-check failed")
    }

    @Test
    fun `an artifact that failed its checks at export says so`() {
        push(Task.SEQUENCE_CLASSIFICATION, "kept") {
            change = { it.replace("\"status\": \"passed\"", "\"status\": \"failed\"") }
        }
        assertContains(opened().cards().single(), "Failed its checks at export")
    }
}
