package org.mobilekit.core.manifest

import org.mobilekit.core.json.Field

// The schema's own kinds of values ($defs).

private const val SHA256 = 64
private const val LONGEST_NAME = 200
private const val MOST_DIMENSIONS = 8
private const val MOST_IDS = 4096
private const val LENGTH = "length"

/** 64 digits of base 16, in lower case. */
internal fun Field.sha256(): String {
    val found = text()
    if (found.length != SHA256 || !found.all { it in '0'..'9' || it in 'a'..'f' }) fail("is no sha256")
    return found
}

/** A name that cannot leave the folder it is in. */
internal fun Field.fileName(): String {
    val found = text()
    if (!isFileName(found)) {
        fail("is no name of a file in the artifact's folder (letters, digits, '.', '_' and '-', at most $LONGEST_NAME)")
    }
    return found
}

internal fun isFileName(name: String): Boolean =
    name.length in 1..LONGEST_NAME && name.first().isNameStart() &&
        name.all { it.isNameStart() || it == '.' || it == '-' }

/** A name of a method, a signature or a function, or nothing. */
internal fun Field.entry(): String {
    val found = text(0, LONGEST_NAME)
    if (!found.all { it.isNameStart() }) fail("is no name of letters, digits and '_'")
    return found
}

private fun Char.isNameStart(): Boolean = this in 'a'..'z' || this in 'A'..'Z' || this in '0'..'9' || this == '_'

/** Ids: whole numbers, one at least. */
internal fun Field.ids(): IntArray = list(1, MOST_IDS).let { found -> IntArray(found.size) { found[it].int() } }

/** A size in a shape. [size]: null for "length". [written]: whether it is written as a whole number (2, not 2.0). */
internal class Dimension(
    val size: Int?,
    val written: Boolean,
)

internal fun Field.shape(): List<Dimension> =
    list(0, MOST_DIMENSIONS).map { if (it.isText(LENGTH)) Dimension(null, false) else Dimension(it.int(), it.isLong) }

/** A member that has to be there, as [Field.members] made sure. */
internal operator fun Map<String, Field>.invoke(name: String): Field = getValue(name)
