package org.mobilekit.demo.work

import android.os.Handler
import android.os.Looper
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors

/** Work that was given to a [Worker]. */
class Task internal constructor() {
    /** Whether it is no longer wanted; long work asks now and then, and ends. */
    @Volatile
    var cancelled: Boolean = false
        private set

    /** Say that it is no longer wanted. */
    fun cancel() {
        cancelled = true
    }
}

/**
 * The app's one thread for everything that takes time: files, loading, tokenizing, running.
 *
 * One at a time, so that nothing disturbs what is measured, and no engine is used by two.
 */
class Worker : AutoCloseable {
    private val thread: ExecutorService =
        Executors.newSingleThreadExecutor { run -> Thread(run, "mobilekit").apply { isDaemon = true } }
    private val main = Handler(Looper.getMainLooper())

    /** Do [work] in its turn; one that was cancelled before it began is left out. */
    fun start(work: (Task) -> Unit): Task {
        val task = Task()
        thread.execute { if (!task.cancelled) work(task) }
        return task
    }

    /** Do [work] in its turn whatever happens; for what has to be closed. */
    fun always(work: () -> Unit): Unit = thread.execute(work)

    /** Do [work] on the main thread. */
    fun onMain(work: () -> Unit) {
        main.post(work)
    }

    override fun close() {
        thread.shutdown()
    }
}
