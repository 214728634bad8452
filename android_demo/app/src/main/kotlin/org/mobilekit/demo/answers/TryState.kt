package org.mobilekit.demo.answers

import org.mobilekit.core.check.SelfCheckResult
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.demo.work.Trouble

/**
 * What the screen to try an artifact shows.
 *
 * [opening]: what is being done before texts can be asked, or null; [share] of it, 0 to 1, null where that is not known.
 * [manifest]: from when it is loaded on, which took [loadMs], with [maskToken] where it fills masks. [refused]: why it cannot be used.
 * [selfCheck]: what the artifact said of itself on this phone. [asking]: whether an answer is on its way. [outcome]: the
 * last answer. [trouble]: why there is none.
 */
data class TryState(
    val opening: String?,
    val share: Double? = null,
    val manifest: Manifest? = null,
    val loadMs: Double = 0.0,
    val maskToken: String? = null,
    val refused: Trouble? = null,
    val selfCheck: SelfCheckResult? = null,
    val asking: Boolean = false,
    val outcome: Outcome? = null,
    val trouble: Trouble? = null,
)
