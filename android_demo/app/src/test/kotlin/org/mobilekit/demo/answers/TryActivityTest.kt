package org.mobilekit.demo.answers

import android.os.Bundle
import android.os.Looper
import android.os.Parcel
import android.text.Spanned
import android.text.style.BackgroundColorSpan
import android.view.View
import android.view.ViewGroup
import android.widget.EditText
import android.widget.TextView
import org.junit.Test
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.R
import org.mobilekit.demo.problem.ProblemActivity
import org.mobilekit.demo.support.AppTest
import org.mobilekit.demo.ui.CosineView
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import java.io.File
import java.util.concurrent.CountDownLatch
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertNotNull
import kotlin.test.assertTrue

class TryActivityTest : AppTest() {
    private fun opened(name: String): ActivityController<TryActivity> {
        val controller = open<TryActivity>(TryActivity.intent(app, name))
        val screen = controller.get()
        await("the model") { screen.session.state.opening == null }
        return controller
    }

    private fun opened(task: Task): TryActivity {
        val name = push(task).name
        return opened(name).get()
    }

    private fun TryActivity.ask(
        first: String,
        second: String = "",
    ): String {
        type(R.id.first, first)
        type(R.id.second, second)
        press(R.id.run)
        await("an answer") { !session.state.asking }
        return words(view(R.id.answer))
    }

    private fun marked(view: View): List<String> =
        when (view) {
            is TextView -> {
                (view.text as? Spanned)?.let { text ->
                    text
                        .getSpans(0, text.length, BackgroundColorSpan::class.java)
                        .map { text.substring(text.getSpanStart(it), text.getSpanEnd(it)) }
                } ?: emptyList()
            }

            is ViewGroup -> {
                (0 until view.childCount).flatMap { marked(view.getChildAt(it)) }
            }

            else -> {
                emptyList()
            }
        }

    @Test
    fun `a label is shown with bars of probabilities and milliseconds`() {
        val screen = opened(Task.SEQUENCE_CLASSIFICATION)
        val lines = screen.ask("the camera is lovely").lines()
        assertEquals(listOf("positive", "positive", "85.8%", "negative", "14.2%"), lines)
        val times = words(screen.view(R.id.timings))
        for (part in listOf(
            "tokenizing",
            "running",
            "text to answer",
            "6 tokens",
            "loaded in",
        )) {
            assertContains(times, part)
        }
    }

    @Test
    fun `a second text is asked for where the model takes pairs`() {
        val screen = opened(Task.SEQUENCE_CLASSIFICATION)
        assertTrue(screen.shown(R.id.second))
        screen.ask("lovely", "fair")
        assertContains(screen.text(R.id.note), "5 tokens")
        assertFalse(opened(Task.TOKEN_CLASSIFICATION).shown(R.id.second))
    }

    @Test
    fun `entities are marked in the text and listed`() {
        val screen = opened(Task.TOKEN_CLASSIFICATION)
        val said = screen.ask("Ada Lovelace lived in London.")
        assertEquals(listOf("Ada Lovelace", "London"), marked(screen.view(R.id.answer)))
        assertContains(said, "Ada Lovelace  ·  PER")
        assertContains(said, "London  ·  LOC")
        assertContains(screen.ask("nobody is here"), "No entity found")
        screen.ask("far" + " ".repeat(5_000) + "from London")
        assertEquals(listOf("London"), marked(screen.view(R.id.answer)))
    }

    @Test
    fun `a span is marked in the text that has the answer`() {
        val screen = opened(Task.QUESTION_ANSWERING)
        val said = screen.ask("When does it close?", "On Fridays it closes at five, else at eight.")
        assertEquals("five", said.lines().first())
        assertEquals(listOf("five"), marked(screen.view(R.id.answer)))
    }

    @Test
    fun `a missing word is filled in`() {
        val screen = opened(Task.FILL_MASK)
        val said = screen.ask("She opened the [MASK] and the [MASK] too.")
        assertEquals("She opened the window and the window too.", said.lines().first())
        assertEquals(listOf("window", "window"), marked(screen.view(R.id.answer)))
        assertContains(said, "Missing word 2")
    }

    @Test
    fun `the mask token can be put in where the cursor is`() {
        val screen = opened(Task.FILL_MASK)
        screen.type(R.id.first, "a  window")
        screen.findViewById<EditText>(R.id.first).setSelection(2)
        screen.press(R.id.mask)
        assertEquals("a [MASK] window", screen.text(R.id.first))
    }

    @Test
    fun `lines are compared with each other`() {
        val screen = opened(Task.SENTENCE_EMBEDDING)
        val said = screen.ask("the lovely camera\n\nthe fair camera\na slow book\n")
        assertContains(said, "1  the lovely camera\n2  the fair camera")
        val answer = screen.view(R.id.answer) as ViewGroup
        val matrix = (0 until answer.childCount).map(answer::getChildAt).filterIsInstance<CosineView>().single()
        assertEquals(3, matrix.cosines.size)
        assertContains(matrix.contentDescription.toString(), "Text 1 and text 2: ")
        assertContains(screen.ask("alone"), "nothing to be compared with")
    }

    @Test
    fun `every task has an example that it answers`() {
        for (task in Task.entries) {
            val screen = opened(task)
            screen.press(R.id.example)
            screen.press(R.id.run)
            await("an answer to $task") { screen.shown(R.id.answer) }
            assertFalse(screen.shown(R.id.message), "$task")
        }
    }

    @Test
    fun `empty texts are asked for, by name`() {
        for (text in listOf("", "  \n ")) {
            val screen = opened(push(Task.QUESTION_ANSWERING, "questions${text.length}").name).get()
            screen.ask(text, "context")
            assertContains(screen.text(R.id.message), "There is no text yet")
            screen.ask("a question", text)
            assertContains(screen.text(R.id.message), "no text to find the answer in")
            assertFalse(screen.shown(R.id.answer))
        }
    }

    @Test
    fun `a text without the mask token is a message`() {
        val screen = opened(Task.FILL_MASK)
        screen.ask("nothing is missing")
        assertContains(screen.text(R.id.message), "[MASK]")
    }

    @Test
    fun `100,000 characters are answered, and it says that the text was cut`() {
        val long = "Ada ".repeat(25_000)
        for (task in listOf(Task.SEQUENCE_CLASSIFICATION, Task.TOKEN_CLASSIFICATION)) {
            val screen = opened(task)
            screen.ask(long)
            assertTrue(screen.shown(R.id.answer), screen.text(R.id.message))
            assertContains(screen.text(R.id.note), "128 tokens; the text was longer and was cut")
        }
        val screen = opened(Task.QUESTION_ANSWERING)
        screen.ask("when?", long)
        assertTrue(screen.shown(R.id.answer), screen.text(R.id.message))
    }

    @Test
    fun `a field holds 100,000 characters, so that what is saved when the screen turns is small enough`() {
        val screen = opened(Task.QUESTION_ANSWERING)
        for (id in listOf(R.id.first, R.id.second)) screen.type(id, "x".repeat(1_000_000))
        assertEquals(100_000, screen.text(R.id.first).length)
        val saved = Bundle()
        shadowOf(Looper.getMainLooper()).idle()
        screen.window.saveHierarchyState().let { saved.putBundle("views", it) }
        val parcel = Parcel.obtain()
        saved.writeToParcel(parcel, 0)
        assertTrue(parcel.dataSize() in 1..MOST_SAVED, "${parcel.dataSize()} bytes")
        parcel.recycle()
    }

    @Test
    fun `more lines than can be compared are a message`() {
        val screen = opened(Task.SENTENCE_EMBEDDING)
        screen.ask("line\n".repeat(51))
        assertContains(screen.text(R.id.message), "at most 50")
    }

    @Test
    fun `an engine that throws is a message, and the next text is answered`() {
        val screen = opened(Task.SEQUENCE_CLASSIFICATION)
        val errors =
            listOf(IllegalStateException("kernel panic"), NoClassDefFoundError("native"), StackOverflowError("deep"))
        for (error in errors) {
            app.fake.onRun = { throw error }
            screen.ask("lovely")
            assertContains(screen.text(R.id.message), error.message.orEmpty())
            assertFalse(screen.shown(R.id.answer))
        }
        app.fake.onRun = {}
        screen.ask("lovely")
        assertTrue(screen.shown(R.id.answer))
        assertFalse(screen.shown(R.id.message))
    }

    @Test
    fun `no memory is a message, when it is loaded and when it runs`() {
        val screen = opened(Task.SEQUENCE_CLASSIFICATION)
        app.fake.onRun = { throw OutOfMemoryError() }
        screen.ask("lovely")
        assertContains(screen.text(R.id.message), "not enough memory")
        app.fake.onOpen = { throw OutOfMemoryError() }
        val other = opened(push(Task.SEQUENCE_CLASSIFICATION, "other").name).get()
        assertContains(other.text(R.id.banner_text), "not enough memory")
        assertFalse(other.view(R.id.run).isEnabled)
    }

    @Test
    fun `an output that is not finite is a message`() {
        val screen = opened(Task.SEQUENCE_CLASSIFICATION)
        app.fake.spoil = { FloatArray(it.size) { Float.NaN } }
        screen.ask("lovely")
        assertTrue(screen.shown(R.id.message))
        assertFalse(screen.shown(R.id.answer))
    }

    @Test
    fun `an artifact that is altered is refused, and explained`() {
        val folder = push(Task.SEQUENCE_CLASSIFICATION)
        folder.resolve("model.tflite").writeText("altered")
        val screen = opened(folder.name).get()
        assertContains(screen.text(R.id.banner_text), "model.tflite is missing or altered")
        assertEquals(0, app.fake.open.get())
        screen.press(R.id.banner)
        val intent = shadowOf(screen).nextStartedActivity
        val problem = open<ProblemActivity>(intent).get()
        assertEquals("Broken artifact", problem.text(R.id.title))
        assertContains(words(problem.view(R.id.content)), "Copy it here again")
    }

    @Test
    fun `an artifact for an engine that is not here is refused`() {
        val name =
            push(Task.SEQUENCE_CLASSIFICATION) {
                change =
                    { it.replace("\"target\": \"tflite\"", "\"target\": \"coreml\"") }
            }.name
        assertContains(opened(name).get().text(R.id.banner_text), "no engine for coreml")
    }

    @Test
    fun `an artifact that is gone is a message`() {
        assertContains(opened("gone").get().text(R.id.banner_text), "no longer there")
    }

    @Test
    fun `an artifact of each task checks itself when it is opened`() {
        for (task in Task.entries) {
            val check = assertNotNull(opened(task).session.state.selfCheck)
            assertTrue(check.passed, "$task: ${check.rows}")
            assertFalse(check.rows.isEmpty())
        }
    }

    @Test
    fun `a self-check that fails is told and explained, with what was measured and the limit`() {
        val name = push(Task.SEQUENCE_CLASSIFICATION) { goldenError = 50f }.name
        val screen = opened(name).get()
        assertContains(screen.text(R.id.banner_text), "other answers on this phone")
        screen.press(R.id.banner)
        val problem = open<ProblemActivity>(shadowOf(screen).nextStartedActivity).get()
        assertEquals("Self-check failed", problem.text(R.id.title))
        val said = words(problem.view(R.id.checks))
        assertContains(said.lines().first(), "Output: failed")
        assertContains(said, "Limit cosine >= 0.99")
        assertContains(said, "Padding: held")
    }

    @Test
    fun `a screen that turns keeps texts, answer and model`() {
        val controller = opened(push(Task.QUESTION_ANSWERING).name)
        controller.get().ask("When?", "It closes at five.")
        val session = controller.get().session
        controller.recreate()
        val turned = controller.get()
        assertEquals(session, turned.session)
        assertEquals("When?", turned.text(R.id.first))
        assertEquals("It closes at five.", turned.text(R.id.second))
        assertTrue(turned.shown(R.id.answer))
        assertEquals("five", words(turned.view(R.id.answer)).lines().first())
        assertEquals(1, app.fake.open.get())
    }

    @Test
    fun `an answer that comes while the screen turns is shown`() {
        val controller = opened(push(Task.SEQUENCE_CLASSIFICATION).name)
        val go = CountDownLatch(1)
        app.fake.onRun = { go.await() }
        controller.get().type(R.id.first, "lovely")
        controller.get().press(R.id.run)
        await("the work") { controller.get().shown(R.id.working) }
        assertFalse(controller.get().view(R.id.run).isEnabled)
        controller.recreate()
        go.countDown()
        await("the answer") { controller.get().shown(R.id.answer) }
        assertFalse(controller.get().shown(R.id.working))
    }

    @Test
    fun `leaving closes the model, also while it is loaded`() {
        val controller = opened(push(Task.SEQUENCE_CLASSIFICATION).name)
        assertEquals(1, app.fake.open.get())
        controller.pause().stop().destroy()
        await("the end") { app.fake.open.get() == 0 }
        val go = CountDownLatch(1)
        app.fake.onOpen = { go.await() }
        val early = open<TryActivity>(TryActivity.intent(app, "tiny-sequence-classification"))
        early.pause().stop().destroy()
        go.countDown()
        await("the end") { app.fake.open.get() == 0 }
    }

    @Test
    fun `an engine that cannot be closed does not end the app`() {
        val controller = opened(push(Task.SEQUENCE_CLASSIFICATION).name)
        app.fake.onFree = { throw IllegalStateException("it does not close") }
        val errors =
            uncaught {
                controller.pause().stop().destroy()
                val done = CountDownLatch(1)
                app.worker.always { done.countDown() }
                done.await()
            }
        assertEquals(emptyList(), errors)
        assertEquals(0, app.fake.open.get())
    }

    @Test
    fun `artifacts with the same model file check themselves each`() {
        val good = push(Task.SEQUENCE_CLASSIFICATION, "good")
        assertTrue(
            assertNotNull(
                opened("good")
                    .get()
                    .session.state.selfCheck,
            ).passed,
        )
        val wrong = File(good.parentFile, "wrong")
        good.copyRecursively(wrong)
        val manifest = wrong.resolve("manifest.json")
        manifest.writeText(manifest.readText().replace("\"output\": [-", "\"output\": [9"))
        assertFalse(
            assertNotNull(
                opened("wrong")
                    .get()
                    .session.state.selfCheck,
            ).passed,
        )
    }

    @Test
    fun `of long lines the beginning is shown`() {
        val screen = opened(Task.SENTENCE_EMBEDDING)
        screen.ask("lovely ".repeat(7_000) + "\n" + "fair ".repeat(9_000))
        assertTrue(screen.shown(R.id.answer), screen.text(R.id.message))
        assertTrue(words(screen.view(R.id.answer)).length < 2_000)
    }

    @Test
    fun `every field and button is as large as a finger and says what it is`() {
        val screen = opened(Task.FILL_MASK)
        screen.press(R.id.example)
        val least = screen.resources.getDimensionPixelSize(R.dimen.touch)
        for (id in listOf(R.id.first, R.id.run, R.id.example, R.id.mask, R.id.back)) {
            assertTrue(screen.view(id).height >= least, screen.resources.getResourceEntryName(id))
        }
        assertEquals(R.id.first, screen.view(R.id.first_label).labelFor)
        assertEquals("Back", screen.view(R.id.back).contentDescription)
    }

    private companion object {
        /** A transaction takes a megabyte, of all that is on its way. */
        const val MOST_SAVED = 500_000
    }
}
