package org.mobilekit.demo.artifacts

import org.mobilekit.core.pack.Unpacker
import java.io.File
import java.io.IOException
import java.io.InputStream
import java.security.MessageDigest
import java.util.concurrent.CancellationException

/** Copies of artifacts in the app's own folder [own]. One is there whole, or not at all. */
internal class Copies(
    private val own: File,
) {
    /** Where the copy of this name is, or would be. */
    fun at(name: String): File = File(own, name)

    /** Whether there is a copy of this name. */
    fun has(name: String): Boolean = at(name).isDirectory

    /** Remove a copy. */
    fun remove(name: String) {
        at(name).deleteRecursively()
    }

    /** Remove what was half written when the app ended, and every copy whose name is not in [wanted]. */
    fun clean(wanted: Set<String>) {
        for (file in own.listFiles().orEmpty()) if (file.name !in wanted) file.deleteRecursively()
    }

    /** The copy of this name; where there is none, [write] fills a folder beside it, which then gets its name. */
    fun folder(
        name: String,
        write: (into: File) -> Unit,
    ): File {
        if (has(name)) return at(name)
        temporary(name) { beside ->
            write(beside)
            if (!beside.renameTo(at(name))) throw IOException("${at(name)} cannot be written")
        }
        return at(name)
    }

    /** Do [work] with a new folder that is gone afterwards, unless it was renamed. */
    fun <T> temporary(
        name: String,
        work: (folder: File) -> T,
    ): T {
        val folder = File(own, "$PARTIAL$name")
        folder.deleteRecursively()
        if (!folder.mkdirs()) throw IOException("$folder cannot be written")
        try {
            return work(folder)
        } finally {
            folder.deleteRecursively()
        }
    }

    /** Unpack a pack into the folder [into]. */
    fun unpacked(
        pack: File,
        into: File,
        copying: Copying,
    ) {
        into.delete()
        Unpacker.unpack(pack, into, copying.progress, copying.cancelled)
    }

    /** Unpack an asset into the folder [into]; a decoder reads files, so the pack becomes one for as long. */
    fun unpacked(
        pack: InputStream,
        into: File,
        copying: Copying,
    ) {
        temporary("${into.name}.mkpack") { folder ->
            val file = File(folder, "pack")
            Copying({ _, _ -> }, copying.cancelled).copy(pack, file, 0)
            unpacked(file, into, copying)
        }
    }

    private companion object {
        const val PARTIAL = ".partial-"
    }
}

/** How far copying is, and whether it is still wanted. */
internal class Copying(
    val progress: (done: Long, of: Long) -> Unit,
    val cancelled: () -> Boolean,
) {
    private var done = 0L

    /** Copy a stream to a file, and close it. [of]: bytes of all files, about. */
    fun copy(
        from: InputStream,
        to: File,
        of: Long,
    ) {
        to.parentFile?.mkdirs()
        from.use { source ->
            to.outputStream().use { target ->
                val part = ByteArray(COPY_BYTES)
                while (true) {
                    if (cancelled()) throw CancellationException("copying was cancelled")
                    val got = source.read(part)
                    if (got < 0) break
                    target.write(part, 0, got)
                    done += got
                    progress(minOf(done, of), of)
                }
            }
        }
    }
}

/** A folder's name out of an artifact's name and what tells its content. */
internal fun copyName(
    path: String,
    content: ByteArray,
): String {
    val hash = MessageDigest.getInstance("SHA-256").digest(content).take(HASH_BYTES)
    return path.substringAfterLast('/') + "@" + hash.joinToString("") { "%02x".format(it) }
}

private const val HASH_BYTES = 8
