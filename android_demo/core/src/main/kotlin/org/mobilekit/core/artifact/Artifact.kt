package org.mobilekit.core.artifact

import org.mobilekit.core.manifest.Manifest
import java.io.File

/** An artifact's folder and what its manifest says. */
class Artifact(
    val folder: File,
    val manifest: Manifest,
) {
    val modelFile: File get() = File(folder, manifest.file)

    val tokenizerFile: File get() = File(folder, manifest.tokenizer.file)
}
