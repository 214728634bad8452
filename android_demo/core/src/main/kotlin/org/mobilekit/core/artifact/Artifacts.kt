package org.mobilekit.core.artifact

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.json.FaultException
import org.mobilekit.core.json.JsonException
import org.mobilekit.core.json.JsonParser
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifest.isControl
import org.mobilekit.core.manifest.readManifest
import org.mobilekit.core.utf8OrNull
import java.io.File
import java.io.IOException

/** Artifacts from their folders. */
object Artifacts {
    private const val LARGEST = 16L shl 20
    private const val SAID = 300

    /**
     * Read and validate the manifest of an artifact's [folder]; no other file is opened.
     *
     * Throws [ArtifactException] where it is missing, too large (over 16 MiB), broken, contradicts itself, is of a
     * newer schema, or names files outside the folder.
     */
    fun open(folder: File): Artifact {
        val file = File(folder, Manifest.FILE)
        if (!folder.isDirectory) throw ArtifactException("$folder: no such artifact folder; export or copy it again.")
        // Opening a pipe would wait for ever.
        if (!file.isFile) throw ArtifactException("$folder: no ${Manifest.FILE} in it; copy the whole artifact.")
        if (file.length() > LARGEST) {
            throw ArtifactException("$file: ${file.length()} bytes are too many for a manifest; export again.")
        }
        try {
            val content = JsonParser(utf8OrNull(file.readBytes()) ?: throw JsonException("not UTF-8 text")).parse()
            refuseNewer(file, content)
            return Artifact(folder, readManifest(content))
        } catch (error: IOException) {
            throw ArtifactException("$file: cannot be read (${error.message}).", error)
        } catch (error: JsonException) {
            throw ArtifactException("$file: not readable as JSON (${error.message}); export again.", error)
        } catch (error: FaultException) {
            // What is said may hold a text of the file, which may hold anything.
            val said =
                error.message
                    .orEmpty()
                    .filterNot(::isControl)
                    .take(SAID)
            throw ArtifactException("$file: $said; export again.", error)
        } catch (error: OutOfMemoryError) {
            throw ArtifactException("$file: too large for this device's memory; export again.", error)
        }
    }

    private fun refuseNewer(
        file: File,
        content: Any?,
    ) {
        val version = (content as? Map<*, *>)?.get("schema")
        if (version is Long && version > Manifest.SCHEMA) {
            throw ArtifactException(
                "$file: schema $version is newer than this app reads (${Manifest.SCHEMA}); upgrade the app.",
            )
        }
    }
}
