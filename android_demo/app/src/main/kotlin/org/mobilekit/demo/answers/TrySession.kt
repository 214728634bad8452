package org.mobilekit.demo.answers

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.check.selfCheck
import org.mobilekit.demo.DemoApplication
import org.mobilekit.demo.R
import org.mobilekit.demo.models.LoadedModel
import org.mobilekit.demo.work.Attempt
import org.mobilekit.demo.work.Session
import org.mobilekit.demo.work.Task
import org.mobilekit.demo.work.attempt

/** One artifact, by the [name] of its entry: loaded, checked, asked, and closed at the end. */
class TrySession(
    private val demo: DemoApplication,
    private val name: String,
) : Session<TryState>(demo.worker, TryState(demo.getString(R.string.opening))) {
    // Of the worker's thread.
    private var model: LoadedModel? = null
    private var shown = -1

    private val opening: Task = worker.start(::open)
    private var asking: Task? = null

    /** Ask what was typed; an answer that is on its way is no longer wanted. */
    fun ask(
        first: String,
        second: String,
    ) {
        asking?.cancel()
        show { it.copy(asking = true, trouble = null) }
        asking = worker.start { task -> answer(task, first, second) }
    }

    override fun close() {
        super.close()
        opening.cancel()
        asking?.cancel()
        worker.always {
            // Nobody is left to be told; and what is thrown on this thread would end the app.
            attempt(demo.resources) { model?.close() }
            model = null
        }
    }

    private fun open(task: Task) {
        val loaded =
            attempt(demo.resources) {
                val entry = demo.store.list().firstOrNull { it.name == name }
                entry ?: throw ArtifactException(demo.getString(R.string.artifact_gone, name))
                doing(
                    if (entry.ready) {
                        R.string.verifying
                    } else if (entry.packed) {
                        R.string.unpacking
                    } else {
                        R.string.copying
                    },
                )
                val artifact = demo.store.prepare(entry, ::progress) { task.cancelled }
                doing(R.string.loading)
                demo.models.open(artifact, demo.threads)
            }
        when (loaded) {
            is Attempt.Done -> check(task, loaded.value)
            is Attempt.Failed -> show { it.copy(opening = null, share = null, refused = loaded.trouble) }
            Attempt.Cancelled -> Unit
        }
    }

    private fun check(
        task: Task,
        loaded: LoadedModel,
    ) {
        model = loaded
        doing(R.string.checking)
        val artifact = loaded.text.artifact
        val checked =
            attempt(demo.resources) {
                demo.selfChecks[artifact.manifest]
                    ?: selfCheck(loaded.text) { task.cancelled }.also { demo.selfChecks[artifact.manifest] = it }
            }
        if (checked is Attempt.Cancelled) return
        show {
            it.copy(
                opening = null,
                share = null,
                manifest = artifact.manifest,
                loadMs = loaded.loadMs,
                maskToken = loaded.text.tokenizer.maskToken,
                selfCheck = (checked as? Attempt.Done)?.value,
                trouble = (checked as? Attempt.Failed)?.trouble,
            )
        }
    }

    private fun answer(
        task: Task,
        first: String,
        second: String,
    ) {
        val loaded = model ?: return
        val answered = attempt(demo.resources) { Asking(demo.resources, loaded).ask(first, second) }
        if (task.cancelled) return
        show {
            when (answered) {
                is Attempt.Done -> it.copy(asking = false, outcome = answered.value, trouble = null)
                is Attempt.Failed -> it.copy(asking = false, outcome = null, trouble = answered.trouble)
                Attempt.Cancelled -> it.copy(asking = false)
            }
        }
    }

    private fun doing(words: Int) {
        show { it.copy(opening = demo.getString(words), share = null) }
    }

    private fun progress(
        done: Long,
        of: Long,
    ) {
        val now = if (of > 0) (STEPS * done / of).toInt() else return
        // As often as the bar moves: a large file comes in more parts than the main thread can draw.
        if (now == shown) return
        shown = now
        show { it.copy(share = now.toDouble() / STEPS) }
    }

    private companion object {
        /** Of a progress bar. */
        const val STEPS = 1_000L
    }
}
