package org.mobilekit.demo.artifacts

import org.mobilekit.core.manifest.Manifest

/**
 * An artifact that the app found.
 *
 * [name]: of its folder or pack; no other entry has it. [manifest]: null while it is packed, and where it cannot be
 * read; then [trouble] says why. [bytes]: of the model file, or of the pack. [ready]: whether its files are where
 * an engine can map them.
 */
class Entry(
    val name: String,
    val place: Place,
    val manifest: Manifest?,
    val trouble: String?,
    val bytes: Long,
    val ready: Boolean,
) {
    /** Whether it is a pack that has yet to be unpacked. */
    val packed: Boolean get() = manifest == null && trouble == null
}
