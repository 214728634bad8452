package org.mobilekit.demo.benchmark

import org.mobilekit.core.measure.Progress
import org.mobilekit.demo.DemoApplication
import org.mobilekit.demo.R
import org.mobilekit.demo.artifacts.Entry
import org.mobilekit.demo.report.Reports
import org.mobilekit.demo.work.Attempt
import org.mobilekit.demo.work.Session
import org.mobilekit.demo.work.Task
import org.mobilekit.demo.work.Trouble
import org.mobilekit.demo.work.attempt
import java.io.File

/**
 * What the benchmark's screen shows.
 *
 * [entries]: what can be measured, null until it was looked for; [picked]: the names of those to measure, with [threads].
 * [progress]: where it is, null while nothing runs. [finished]: what came of the last one, its report in [file].
 */
data class BenchmarkState(
    val entries: List<Entry>? = null,
    val picked: Set<String> = emptySet(),
    val threads: Int = DEFAULT_THREADS,
    val progress: Progress? = null,
    val finished: Finished? = null,
    val file: File? = null,
    val trouble: Trouble? = null,
) {
    companion object {
        /** As `bench` measures. */
        const val DEFAULT_THREADS = 2
    }
}

/** A benchmark that runs on while the screen turns, and ends with the screen. */
class BenchmarkSession(
    private val demo: DemoApplication,
) : Session<BenchmarkState>(demo.worker, BenchmarkState()) {
    private var running: Task? = null

    init {
        worker.start { look() }
    }

    /** Measure an artifact, or leave it out. */
    fun pick(
        name: String,
        wanted: Boolean,
    ) {
        show { it.copy(picked = if (wanted) it.picked + name else it.picked - name) }
    }

    /** Of each engine. */
    fun threads(count: Int) {
        show { it.copy(threads = count) }
    }

    /** Measure what is picked. */
    fun start() {
        val asked = state
        val entries = asked.entries.orEmpty().filter { it.name in asked.picked }
        if (entries.isEmpty() || asked.progress != null) return
        show {
            it.copy(
                progress = Progress(demo.getString(R.string.starting), 0.0),
                finished = null,
                file = null,
                trouble = null,
            )
        }
        running = worker.start { task -> measure(task, entries, asked.threads) }
    }

    /** End it; nothing is kept of what was measured so far. */
    fun cancel() {
        running?.cancel()
        show { it.copy(progress = null) }
    }

    /** End it, since nobody sees the screen: Android gives the fast cores to what is seen. */
    fun leave() {
        if (state.progress == null) return
        cancel()
        show { it.copy(trouble = Trouble(Trouble.Kind.INPUT, demo.getString(R.string.benchmark_left))) }
    }

    override fun close() {
        super.close()
        running?.cancel()
    }

    private fun look() {
        val found = attempt(demo.resources) { demo.store.list().filter { it.trouble == null } }
        show {
            when (found) {
                is Attempt.Done -> {
                    it.copy(
                        entries = found.value,
                        picked =
                            found.value
                                .map { entry ->
                                    entry.name
                                }.toSet(),
                    )
                }

                is Attempt.Failed -> {
                    it.copy(entries = emptyList(), trouble = found.trouble)
                }

                Attempt.Cancelled -> {
                    it
                }
            }
        }
    }

    private fun measure(
        task: Task,
        entries: List<Entry>,
        threads: Int,
    ) {
        val measured =
            attempt(demo.resources) {
                val finished = BenchmarkJob(demo).run(entries, threads, { now -> report(task, now) }) { task.cancelled }
                val file = Reports.file(demo, System.currentTimeMillis())
                file.parentFile?.mkdirs()
                finished.report.write(file)
                finished to file
            }
        if (task.cancelled) return
        show {
            when (measured) {
                is Attempt.Done -> {
                    it.copy(
                        progress = null,
                        finished = measured.value.first,
                        file = measured.value.second,
                    )
                }

                is Attempt.Failed -> {
                    it.copy(progress = null, trouble = measured.trouble)
                }

                Attempt.Cancelled -> {
                    it.copy(progress = null)
                }
            }
        }
    }

    private fun report(
        task: Task,
        now: Progress,
    ) {
        show { if (task.cancelled) it else it.copy(progress = now) }
    }
}
