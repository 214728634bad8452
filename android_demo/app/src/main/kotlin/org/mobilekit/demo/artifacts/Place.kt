package org.mobilekit.demo.artifacts

import java.io.File

/** Where an artifact lies before it is run. */
sealed interface Place {
    /** A folder that was pushed; it is run from there. */
    data class Folder(
        val folder: File,
    ) : Place

    /** A pack that was pushed. */
    data class Pack(
        val file: File,
    ) : Place

    /** A folder among the app's assets, by its path there. */
    data class AssetFolder(
        val path: String,
    ) : Place

    /** A pack among the app's assets, by its path there. */
    data class AssetPack(
        val path: String,
    ) : Place
}
