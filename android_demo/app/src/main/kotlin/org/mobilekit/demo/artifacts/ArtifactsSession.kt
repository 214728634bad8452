package org.mobilekit.demo.artifacts

import org.mobilekit.demo.DemoApplication
import org.mobilekit.demo.work.Attempt
import org.mobilekit.demo.work.Session
import org.mobilekit.demo.work.Task
import org.mobilekit.demo.work.Trouble
import org.mobilekit.demo.work.attempt

/** [entries]: null until they were looked for. [trouble]: why that failed. */
data class ArtifactsState(
    val entries: List<Entry>? = null,
    val trouble: Trouble? = null,
)

/** Looks for artifacts. */
class ArtifactsSession(
    private val demo: DemoApplication,
) : Session<ArtifactsState>(demo.worker, ArtifactsState()) {
    private var looking: Task? = null

    /** Look again; what was found before is shown meanwhile. */
    fun look() {
        looking?.cancel()
        looking =
            worker.start {
                val found = attempt(demo.resources) { demo.store.list() }
                show { state ->
                    when (found) {
                        is Attempt.Done -> ArtifactsState(found.value)
                        is Attempt.Failed -> ArtifactsState(emptyList(), found.trouble)
                        Attempt.Cancelled -> state
                    }
                }
            }
    }

    override fun close() {
        super.close()
        looking?.cancel()
    }
}
