package org.mobilekit.demo.headless

import android.app.Activity
import android.os.Bundle
import android.util.Log
import android.view.WindowManager
import android.widget.TextView
import org.mobilekit.core.InputException
import org.mobilekit.core.measure.Progress
import org.mobilekit.demo.DemoApplication
import org.mobilekit.demo.R
import org.mobilekit.demo.artifacts.Entry
import org.mobilekit.demo.benchmark.BenchmarkJob
import org.mobilekit.demo.benchmark.BenchmarkState
import org.mobilekit.demo.ui.setScreen
import org.mobilekit.demo.work.Attempt
import org.mobilekit.demo.work.Task
import org.mobilekit.demo.work.attempt
import java.io.File
import java.io.IOException

/**
 * Measures without anyone touching the phone; `mobilekit device android` starts it through adb. Not in releases.
 *
 * Extras: `run`, a name for the report; `threads`, 2 where it is not given; `artifacts`, names of those to measure, all
 * where it is not given. Writes `reports/RUN.json` in the app's external folder, or `reports/RUN.error` with a line that
 * says what went wrong. Each gets its name when it is whole, so whoever waits for one may read it at once.
 *
 * An activity, since Android gives what is on the screen the fast cores, and a receiver ten seconds.
 */
class HeadlessActivity : Activity() {
    private val demo: DemoApplication get() = application as DemoApplication
    private var task: Task? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setScreen(R.layout.headless, getString(R.string.headless_title), getString(R.string.headless_subtitle))
        window.addFlags(WindowManager.LayoutParams.FLAG_KEEP_SCREEN_ON)
        val run = intent.getStringExtra("run").orEmpty()
        val reports = getExternalFilesDir("reports")
        if (!isName(run) || reports == null) {
            Log.e(TAG, "no report: the extra `run` must be a name of letters, digits, dots, dashes and underscores")
            finish()
            return
        }
        val names = intent.getStringArrayExtra("artifacts")?.toList()
        val threads = intent.getIntExtra("threads", BenchmarkState.DEFAULT_THREADS)
        task = demo.worker.start { measure(it, Run(reports, run), names, threads) }
    }

    override fun onDestroy() {
        task?.cancel()
        super.onDestroy()
    }

    private fun measure(
        task: Task,
        run: Run,
        names: List<String>?,
        threads: Int,
    ) {
        val measured =
            attempt(resources) {
                if (threads !in 1..MOST_THREADS) throw InputException("$threads threads: choose 1 to $MOST_THREADS.")
                val finished = BenchmarkJob(demo).run(entries(names), threads, ::show) { task.cancelled }
                for ((name, why) in finished.unusable) {
                    Log.w(TAG, "not measured: $name: $why")
                    // Whoever names artifacts wants all of them.
                    if (names != null) throw InputException(why)
                }
                finished.report.write(run.report)
            }
        when (measured) {
            is Attempt.Done -> Log.i(TAG, "written: ${run.report}")
            is Attempt.Failed -> run.failed(measured.trouble.said)
            Attempt.Cancelled -> run.failed("The app was closed before it was done; leave the phone alone.")
        }
        demo.worker.onMain(::finish)
    }

    private fun entries(names: List<String>?): List<Entry> {
        val found = demo.store.list()
        if (names == null) return found
        return names.map { name ->
            found.firstOrNull { it.name == name }
                ?: throw InputException("$name: no such artifact in the app; it has ${found.map { it.name }}.")
        }
    }

    private fun show(progress: Progress) {
        demo.worker.onMain { findViewById<TextView>(R.id.doing)?.text = progress.doing }
    }

    /** A run's files. */
    private class Run(
        private val folder: File,
        private val name: String,
    ) {
        val report = File(folder, "$name.json")

        fun failed(why: String) {
            Log.e(TAG, why)
            val beside = File(folder, ".partial-$name")
            try {
                beside.writeText(why)
                beside.renameTo(File(folder, "$name.error"))
            } catch (error: IOException) {
                Log.e(TAG, "it cannot be written either", error)
            }
        }
    }

    private companion object {
        const val TAG = "mobilekit"
        const val MOST_THREADS = 16
        const val LONGEST_NAME = 80

        /** Whoever starts it names a file, so the name is looked at. */
        fun isName(run: String): Boolean =
            run.length in 1..LONGEST_NAME &&
                run[0] != '.' &&
                run.all { it in 'a'..'z' || it in 'A'..'Z' || it in '0'..'9' || it in "._-" }
    }
}
