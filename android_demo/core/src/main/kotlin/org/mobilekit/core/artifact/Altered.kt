package org.mobilekit.core.artifact

import org.mobilekit.core.ArtifactException
import java.io.File
import java.io.IOException
import java.security.MessageDigest

private const val BLOCK = 1 shl 16

/**
 * Names of files that are missing or do not have the sha256 of the manifest, sorted; empty where all is well.
 *
 * Reads every file of the artifact. Throws [ArtifactException] where the disk refuses.
 */
fun Artifact.altered(): List<String> {
    val expected = manifest.files + (manifest.file to manifest.sha256)
    try {
        return expected.filter { (name, sha256) -> hashOf(File(folder, name)) != sha256 }.keys.sorted()
    } catch (error: IOException) {
        throw ArtifactException("$folder: cannot be read (${error.message}).", error)
    }
}

/** Of a folder: over the lines `hex  path`, sorted by the path's bytes. Null for what is neither file nor folder. */
private fun hashOf(path: File): String? =
    when {
        path.isFile -> {
            hex(MessageDigest.getInstance(SHA256).apply { updateFrom(path) }.digest())
        }

        path.isDirectory -> {
            val files =
                path.walkTopDown().filter { it.isFile }.map {
                    it
                        .relativeTo(
                            path,
                        ).invariantSeparatorsPath to it
                }
            val lines = files.sortedWith { a, b -> compareUnsigned(a.first.toByteArray(), b.first.toByteArray()) }
            sha256(lines.joinToString("") { (name, file) -> "${hashOf(file)}  $name\n" }.toByteArray())
        }

        else -> {
            null
        }
    }

private fun MessageDigest.updateFrom(file: File) {
    val block = ByteArray(BLOCK)
    file.inputStream().use { stream ->
        while (true) {
            val count = stream.read(block)
            if (count < 0) return
            update(block, 0, count)
        }
    }
}
