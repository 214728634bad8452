package org.mobilekit.core.pack

import org.mobilekit.core.artifact.compareUnsigned
import org.mobilekit.core.manifest.isControl
import org.mobilekit.core.utf8OrNull
import java.text.Normalizer
import java.util.Locale

private const val MOST_NAME = 1024
private const val MOST_PART = 255
private const val DOTLESS_I = 0x131

/** A file's name that stays in its folder and means the same on every system; else it is a [DamagedException]. */
internal fun nameOf(bytes: ByteArray): String {
    if (bytes.size > MOST_NAME) damaged("a name has ${bytes.size} bytes")
    val name = utf8OrNull(bytes) ?: damaged("a name is not UTF-8")
    val parts = name.split('/')
    if (name.any { it == '\\' || it == ':' || isControl(it) } ||
        parts.any { it.isEmpty() || it == "." || it == ".." }
    ) {
        damaged("a name would leave the folder, or has characters that no name has")
    }
    if (parts.any { it.toByteArray().size > MOST_PART }) damaged("a part of a name has over $MOST_PART bytes")
    return name
}

/** Refuse names that do not ascend by their bytes, or of which two are the same to some systems. */
internal fun refuseNames(names: List<String>) {
    val ascend = names.zipWithNext().all { (a, b) -> compareUnsigned(a.toByteArray(), b.toByteArray()) < 0 }
    if (!ascend) damaged("its names do not ascend")
    // With the slash before all other characters, names that share a folder stand together.
    val sorted = names.map { folded(it).replace('/', '\u0000') to it }.sortedBy { it.first }
    for ((before, after) in sorted.zipWithNext()) {
        val (first, second) = before.first.split('\u0000') to after.first.split('\u0000')
        val shared = first.zip(second).takeWhile { (a, b) -> a == b }.size
        val same = before.second.split('/').take(shared) == after.second.split('/').take(shared)
        if (!same || shared == minOf(first.size, second.size)) {
            damaged("${before.second} and ${after.second} are the same to some systems")
        }
    }
}

/** Composed, without case, composed: what names are that a system may take for the same. */
internal fun folded(name: String): String {
    val found = StringBuilder()
    for (point in Normalizer.normalize(name, Normalizer.Form.NFC).codePoints().toArray()) {
        val character = String(Character.toChars(point))
        // Unicode's full case folding, character by character: there and back, as some have a lower case only.
        val plain = character.lowercase(Locale.ROOT).uppercase(Locale.ROOT).lowercase(Locale.ROOT)
        found.append(if (point == DOTLESS_I) character else plain)
    }
    return Normalizer.normalize(found, Normalizer.Form.NFC)
}
