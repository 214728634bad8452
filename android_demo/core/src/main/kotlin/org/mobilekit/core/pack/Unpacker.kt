package org.mobilekit.core.pack

import java.io.File

/** Packs (docs/pack-format.md) become folders again. */
object Unpacker {
    /**
     * Write all files of a [pack] into the new folder [into], each with the sha256 that the pack says.
     *
     * They are written beside it and renamed at the end; on any failure nothing is left. One segment (at most 4 MiB) is
     * in memory at a time. [progress]: bytes written so far, of all. [cancelled] is asked between segments.
     *
     * Throws [org.mobilekit.core.ArtifactException] where the pack is damaged, of a newer version or too large for the
     * disk, or [into] is there already; [java.util.concurrent.CancellationException] where it was cancelled.
     */
    fun unpack(
        pack: File,
        into: File,
        progress: (done: Long, of: Long) -> Unit = { _, _ -> },
        cancelled: () -> Boolean = { false },
    ): Unit = TODO("$pack $into $progress $cancelled")
}
