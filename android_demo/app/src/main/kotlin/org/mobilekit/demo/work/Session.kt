package org.mobilekit.demo.work

/**
 * What a screen shows, and the work behind it: kept when the screen turns, closed when it goes for good.
 *
 * [S] is a value; a new one is shown by the screen that watches. Everything here is called on the main thread, but
 * [show], which may be called anywhere.
 */
abstract class Session<S>(
    protected val worker: Worker,
    initial: S,
) : AutoCloseable {
    /** What is shown now. */
    var state: S = initial
        private set

    private var watcher: ((S) -> Unit)? = null
    private var closed = false

    /** Call [screen] now, and whenever the state changes. */
    fun watch(screen: (S) -> Unit) {
        watcher = screen
        screen(state)
    }

    /** The screen is gone; another one may come. */
    fun unwatch() {
        watcher = null
    }

    /** Change the state; from any thread. Nothing is shown after [close]. */
    protected fun show(change: (S) -> S) {
        worker.onMain {
            if (closed) return@onMain
            state = change(state)
            watcher?.invoke(state)
        }
    }

    override fun close() {
        closed = true
        watcher = null
    }
}
