package org.mobilekit.demo.artifacts

import android.content.res.AssetManager
import org.mobilekit.core.ArtifactException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.artifact.Artifacts
import org.mobilekit.core.artifact.altered
import org.mobilekit.core.manifest.Manifest
import java.io.File
import java.io.IOException

/**
 * Artifacts of the app: among its assets, in [assetFolder], and in the folder that adb pushes to ([pushed], null where
 * the phone has none).
 *
 * Engines map files, so what lies in assets is copied, and what is packed is unpacked, to [own] on first use. A copy is
 * named after what is in it: another build's artifact of the same name gets a copy of its own, and the old one goes.
 */
class ArtifactStore(
    assets: AssetManager,
    private val assetFolder: String,
    private val pushed: File?,
    private val own: File,
) {
    private val assetFiles = AssetFiles(assets)
    private val copies = Copies(own)

    /** Every artifact there is, by name; copies that are half written or no longer wanted are removed before. */
    fun list(): List<Entry> {
        val places = assetPlaces() + pushedPlaces()
        copies.clean(places.values.mapNotNull { place -> quietly { copyName(place) } }.toSet())
        return places.map { (name, place) -> entry(name, place) }.sortedBy { it.name }
    }

    /**
     * The artifact of an entry in files of its own, every one with the hash that its manifest says.
     *
     * [progress]: bytes written so far, of all. Throws [ArtifactException] where a file is missing, altered or cannot be
     * written, and [java.util.concurrent.CancellationException] where it was cancelled; then nothing is left.
     */
    fun prepare(
        entry: Entry,
        progress: (done: Long, of: Long) -> Unit = { _, _ -> },
        cancelled: () -> Boolean = { false },
    ): Artifact {
        entry.trouble?.let { throw ArtifactException(it) }
        val copying = Copying(progress, cancelled)
        val folder =
            try {
                readyFolder(entry.place, copying)
            } catch (error: IOException) {
                throw ArtifactException("${entry.name}: cannot be copied to the app's files (${error.message}).", error)
            }
        return Artifacts.open(folder).also { if (entry.place is Place.Folder) verify(entry.name, it) }
    }

    private fun readyFolder(
        place: Place,
        copying: Copying,
    ): File {
        if (place is Place.Folder) return place.folder
        val name = copyName(place)
        if (copies.has(name) && !intact(copies.at(name))) copies.remove(name)
        return copies.folder(name) { into ->
            when (place) {
                is Place.AssetFolder -> copyAssets(place, into, copying)
                is Place.AssetPack -> copies.unpacked(assetFiles.open(place.path), into, copying)
                is Place.Pack -> copies.unpacked(place.file, into, copying)
                is Place.Folder -> error("it is run from where it is")
            }
            verify(name, Artifacts.open(into))
        }
    }

    private fun copyAssets(
        place: Place.AssetFolder,
        into: File,
        copying: Copying,
    ) {
        val manifest = manifestOf(place)
        val files = listOf(Manifest.FILE, manifest.file) + manifest.files.keys
        for (name in files) copying.copy(assetFiles.open("${place.path}/$name"), File(into, name), manifest.bytes)
    }

    private fun intact(copy: File): Boolean =
        try {
            Artifacts.open(copy).altered().isEmpty()
        } catch (_: ArtifactException) {
            false
        }

    private fun verify(
        name: String,
        artifact: Artifact,
    ) {
        val altered = artifact.altered()
        if (altered.isEmpty()) return
        throw ArtifactException("$name: ${altered.first()} is missing or altered since it was exported; copy it again.")
    }

    private fun entry(
        name: String,
        place: Place,
    ): Entry {
        val ready = place is Place.Folder || quietly { copies.has(copyName(place)) } == true
        return try {
            val manifest = manifestOrNull(place, ready)
            Entry(name, place, manifest, null, manifest?.bytes ?: packBytes(place), ready)
        } catch (error: ArtifactException) {
            Entry(name, place, null, shortly(error), 0, ready)
        } catch (error: IOException) {
            Entry(name, place, null, "$name: cannot be read (${error.message}).", 0, ready)
        }
    }

    /** What a person sees: paths from the artifacts' folder on. */
    private fun shortly(error: ArtifactException): String =
        listOfNotNull(pushed, own).fold(error.message.orEmpty()) { said, folder -> said.replace("$folder/", "") }

    private fun manifestOrNull(
        place: Place,
        ready: Boolean,
    ): Manifest? =
        when (place) {
            is Place.Folder -> Artifacts.open(place.folder).manifest
            is Place.AssetFolder -> manifestOf(place)
            else -> if (ready) unpackedOrNull(copies.at(copyName(place))) else null
        }

    /** Null for a copy that was damaged, as by a phone that went off while it was written: it is unpacked again. */
    private fun unpackedOrNull(copy: File): Manifest? =
        try {
            Artifacts.open(copy).manifest
        } catch (_: ArtifactException) {
            null
        }

    private fun manifestOf(place: Place.AssetFolder): Manifest =
        copies.temporary(place.path.substringAfterLast('/')) { folder ->
            assetFiles.open("${place.path}/${Manifest.FILE}").use { asset ->
                File(folder, Manifest.FILE).outputStream().use(asset::copyTo)
            }
            Artifacts.open(folder).manifest
        }

    private fun packBytes(place: Place): Long =
        when (place) {
            is Place.Pack -> place.file.length()
            is Place.AssetPack -> assetFiles.size(place.path)
            else -> 0
        }

    /** The name of an artifact's copy, of what tells its content: its manifest, or the head of its pack. */
    private fun copyName(place: Place): String =
        when (place) {
            is Place.Folder -> place.folder.name
            is Place.AssetFolder -> copyName(place.path, assetFiles.head("${place.path}/${Manifest.FILE}"))
            is Place.AssetPack -> copyName(place.path, assetFiles.head(place.path, PACK_HEADER))
            is Place.Pack -> copyName(place.file.name, place.file.inputStream().use { it.upTo(PACK_HEADER) })
        }

    private fun assetPlaces(): Map<String, Place> =
        assetFiles.names(assetFolder).associate { name ->
            val path = "$assetFolder/$name"
            if (name.endsWith(PACK)) {
                name.removeSuffix(PACK) to Place.AssetPack(path)
            } else {
                name to
                    Place.AssetFolder(path)
            }
        }

    private fun pushedPlaces(): Map<String, Place> =
        pushed
            ?.listFiles()
            .orEmpty()
            .filter { !it.name.startsWith(".") }
            .mapNotNull { file ->
                when {
                    file.isDirectory -> file.name to Place.Folder(file)
                    file.name.endsWith(PACK) -> file.name.removeSuffix(PACK) to Place.Pack(file)
                    else -> null
                }
            }.sortedBy { (_, place) -> place is Place.Folder }
            .toMap()

    private fun <T> quietly(work: () -> T): T? =
        try {
            work()
        } catch (_: IOException) {
            null
        }

    private companion object {
        const val PACK = ".mkpack"

        /** A pack's header: it has the hash of all files (docs/pack-format.md). */
        const val PACK_HEADER = 68
    }
}
