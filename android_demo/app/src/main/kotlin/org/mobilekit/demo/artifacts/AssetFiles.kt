package org.mobilekit.demo.artifacts

import android.content.res.AssetManager
import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.InputStream

/** Files among the app's assets. */
internal class AssetFiles(
    private val assets: AssetManager,
) {
    /** Names in a folder; none where there is no such folder. */
    fun names(folder: String): List<String> =
        try {
            // Robolectric lists all files below, Android what is in the folder itself.
            assets
                .list(folder)
                .orEmpty()
                .map { it.substringBefore('/') }
                .distinct()
        } catch (_: IOException) {
            emptyList()
        }

    /** Throws [IOException] where there is no such file. */
    fun open(path: String): InputStream = assets.open(path)

    /** The first bytes of a file, at most [count]. */
    fun head(
        path: String,
        count: Int = HEAD,
    ): ByteArray = open(path).use { it.upTo(count) }

    /** Bytes of a file. */
    fun size(path: String): Long = open(path).use { it.available().toLong() }

    private companion object {
        /** Manifests are smaller. */
        const val HEAD = 16 shl 20
    }
}

/** The next bytes, at most [count], fewer where it ends. */
internal fun InputStream.upTo(count: Int): ByteArray {
    val kept = ByteArrayOutputStream()
    val part = ByteArray(minOf(count, COPY_BYTES))
    while (kept.size() < count) {
        val got = read(part, 0, minOf(part.size, count - kept.size()))
        if (got < 0) break
        kept.write(part, 0, got)
    }
    return kept.toByteArray()
}

/** Copied at a time. */
internal const val COPY_BYTES: Int = 1 shl 16
