package org.mobilekit.core.artifact

import java.io.File

/** Artifacts from their folders. */
object Artifacts {
    /**
     * Read and validate the manifest of an artifact's [folder]; no other file is opened.
     *
     * Throws [org.mobilekit.core.ArtifactException] where it is missing, too large, broken, contradicts itself, is of a
     * newer schema, or names files outside the folder.
     */
    fun open(folder: File): Artifact = TODO("$folder")
}

/** Names of files that are missing or do not have the sha256 of the manifest, sorted; empty where all is well. */
fun Artifact.altered(): List<String> = TODO()
