package org.mobilekit.core.pack

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.artifact.SHA256
import org.mobilekit.core.artifact.hex
import java.io.File
import java.io.IOException
import java.io.RandomAccessFile
import java.security.MessageDigest
import java.util.concurrent.CancellationException

/** Packs (docs/pack-format.md) become folders again. */
object Unpacker {
    /**
     * Write all files of a [pack] into the new folder [into], each with the sha256 that the pack says.
     *
     * They are written beside it and renamed at the end; on any failure nothing is left. One segment is in memory at a
     * time (at most 4 MiB, and, in packs made to take much, eight times that of escapes). [progress]: bytes written so
     * far, of all. [cancelled] is asked between segments. One thread at a time may write the same folder.
     *
     * Throws [ArtifactException] where the pack is damaged, of a newer version or too large for the disk, or [into] is
     * there already; [CancellationException] where it was cancelled.
     */
    fun unpack(
        pack: File,
        into: File,
        progress: (done: Long, of: Long) -> Unit = { _, _ -> },
        cancelled: () -> Boolean = { false },
    ): Unit = unpack(pack, into, progress, cancelled, File::getUsableSpace)

    internal fun unpack(
        pack: File,
        into: File,
        progress: (done: Long, of: Long) -> Unit,
        cancelled: () -> Boolean,
        space: (File) -> Long,
    ) {
        if (into.exists()) throw ArtifactException("$into: is there already; delete it first.")
        if (!pack.isFile) throw ArtifactException("$pack: no such pack; copy it again.")
        // A dot, so that nobody takes it for an artifact; what a killed app left of it goes first.
        val beside = File(into.absoluteFile.parentFile, ".${into.name}.unpacking")
        try {
            RandomAccessFile(pack, "r").use { file ->
                PackReader(file).use { reader ->
                    refuseLarge(pack, reader.totalBytes, beside, space)
                    if (!beside.deleteRecursively() || !beside.mkdirs()) throw IOException("no folder beside it")
                    write(reader, beside, progress, cancelled)
                }
            }
            if (!beside.renameTo(into)) throw IOException("it cannot be renamed to its place")
        } catch (error: NewerPackException) {
            throw ArtifactException(
                "$pack: version ${error.version} is newer than this app reads; upgrade the app.",
                error,
            )
        } catch (error: DamagedException) {
            throw ArtifactException("$pack: damaged: ${error.message}; copy or download it again.", error)
        } catch (error: IOException) {
            throw ArtifactException("$pack: cannot be unpacked to $into (${error.message}).", error)
        } catch (error: OutOfMemoryError) {
            throw ArtifactException("$pack: no memory to unpack it; close other apps and try again.", error)
        } finally {
            beside.deleteRecursively()
        }
    }

    private fun refuseLarge(
        pack: File,
        bytes: Long,
        beside: File,
        space: (File) -> Long,
    ) {
        val folder = generateSequence(beside.parentFile) { it.parentFile }.firstOrNull { it.exists() } ?: beside
        val free = space(folder)
        if (bytes > free) throw ArtifactException("$pack: takes $bytes bytes unpacked, and $free are free; make room.")
    }

    private fun write(
        reader: PackReader,
        folder: File,
        progress: (done: Long, of: Long) -> Unit,
        cancelled: () -> Boolean,
    ) {
        var done = 0L
        progress(done, reader.totalBytes)
        for (about in reader.files) {
            val file = File(folder, about.name)
            if (!file.parentFile.isDirectory &&
                !file.parentFile.mkdirs()
            ) {
                throw IOException("no folder for ${about.name}")
            }
            val digest = MessageDigest.getInstance(SHA256)
            file.outputStream().use { stream ->
                for (segment in about.segments) {
                    if (cancelled()) throw CancellationException("unpacking was cancelled")
                    val bytes = reader.decode(segment)
                    digest.update(bytes)
                    stream.write(bytes)
                    done += bytes.size
                    progress(done, reader.totalBytes)
                }
            }
            if (!digest.digest().contentEquals(about.sha256)) {
                damaged("${about.name} has not the sha256 ${hex(about.sha256)}")
            }
        }
    }
}
