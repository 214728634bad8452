package org.mobilekit.demo.support

import android.app.Activity
import android.content.Intent
import android.os.Looper
import android.view.View
import android.widget.EditText
import android.widget.TextView
import org.junit.After
import org.junit.runner.RunWith
import org.mobilekit.core.manifest.Task
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.android.controller.ActivityController
import org.robolectric.annotation.Config
import org.robolectric.annotation.GraphicsMode
import java.io.File
import java.util.concurrent.CopyOnWriteArrayList
import kotlin.test.fail

/** Screens under Robolectric: real views, real files, and the app's own background thread. */
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [34], application = TestDemoApplication::class, qualifiers = "w411dp-h891dp-xhdpi")
@GraphicsMode(GraphicsMode.Mode.NATIVE)
abstract class AppTest {
    protected val app: TestDemoApplication get() = RuntimeEnvironment.getApplication() as TestDemoApplication
    protected val pushed: File get() = checkNotNull(app.getExternalFilesDir("artifacts"))
    protected val own: File get() = File(app.filesDir, "artifacts")
    private val opened = ArrayList<ActivityController<*>>()

    @After
    fun closeApp() {
        closeScreens()
        app.worker.close()
    }

    protected fun closeScreens() {
        opened.forEach { it.close() }
        opened.clear()
    }

    /** An artifact in the folder that adb pushes to. */
    protected fun push(
        task: Task,
        name: String = "tiny-${task.id}",
        scheme: String = "int8",
        writer: ArtifactWriter.() -> Unit = {},
    ): File = ArtifactWriter(task, name, scheme).apply(writer).write(File(pushed, name))

    protected inline fun <reified T : Activity> open(intent: Intent? = null): ActivityController<T> =
        open(T::class.java, intent)

    protected fun <T : Activity> open(
        type: Class<T>,
        intent: Intent?,
    ): ActivityController<T> = Robolectric.buildActivity(type, intent).also { opened += it }.setup()

    /** Let the main thread and the background thread work until something holds. */
    protected fun await(
        what: String,
        seconds: Int = 30,
        holds: () -> Boolean,
    ) {
        val until = System.nanoTime() + seconds * NANOS
        while (System.nanoTime() < until) {
            shadowOf(Looper.getMainLooper()).idle()
            if (holds()) return
            Thread.sleep(2)
        }
        fail("in vain: $what")
    }

    /** What [work] leaves uncaught on other threads; each would end the app. */
    protected fun uncaught(work: () -> Unit): List<Throwable> {
        val seen = CopyOnWriteArrayList<Throwable>()
        val before = Thread.getDefaultUncaughtExceptionHandler()
        Thread.setDefaultUncaughtExceptionHandler { _, error -> seen += error }
        try {
            work()
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before)
        }
        return seen
    }

    protected fun Activity.view(id: Int): View = findViewById(id)

    protected fun Activity.text(id: Int): String = findViewById<TextView>(id).text.toString()

    protected fun Activity.shown(id: Int): Boolean = view(id).isShown

    protected fun Activity.type(
        id: Int,
        text: String,
    ) {
        findViewById<EditText>(id).setText(text)
    }

    protected fun Activity.press(id: Int) {
        check(view(id).isShown && view(id).isEnabled) { "it cannot be pressed" }
        view(id).performClick()
    }

    /** All words on a view, line by line. */
    protected fun words(view: View): String =
        when {
            view.visibility != View.VISIBLE -> {
                ""
            }

            view is TextView -> {
                view.text.toString()
            }

            view is android.view.ViewGroup -> {
                (0 until view.childCount)
                    .map {
                        words(view.getChildAt(it))
                    }.filter { it.isNotEmpty() }
                    .joinToString("\n")
            }

            else -> {
                ""
            }
        }

    private companion object {
        const val NANOS = 1_000_000_000L
    }
}
