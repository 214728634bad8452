package org.mobilekit.core.text.normalize

import org.mobilekit.core.text.unicode.Graphemes

/**
 * SentencePiece's character map, applied as the reference library does: to whole grapheme clusters of at most five
 * bytes, of which the first character that the map knows decides, then to each character.
 */
internal class Precompiled(
    private val map: CharacterMap,
) : Normalizer {
    override fun normalize(text: AlignedText) {
        val changes = Changes(text.size)
        var modified = false
        var at = 0
        while (at < text.size) {
            val end = Graphemes.end(text.points, text.size, at)
            val whole = if (isShort(text.points, at, end)) map.find(text.points, at, end) else null
            if (whole != null) {
                changes.replace(end - at, whole)
                modified = true
            } else {
                modified = eachCharacter(text, at, end, changes) || modified
            }
            at = end
        }
        if (modified) text.apply(changes)
    }

    private fun eachCharacter(
        text: AlignedText,
        from: Int,
        to: Int,
        changes: Changes,
    ): Boolean {
        var modified = false
        for (i in from until to) {
            val replacement = map.find(text.points, i, i + 1)
            if (replacement == null) {
                changes.add(text.points[i], 0)
            } else {
                changes.replace(1, replacement)
                modified = true
            }
        }
        return modified
    }

    private fun isShort(
        points: IntArray,
        from: Int,
        to: Int,
    ): Boolean {
        if (to - from > MOST_BYTES) return false
        var bytes = 0
        for (i in from until to) bytes += utf8Length(points[i])
        return bytes <= MOST_BYTES
    }

    private companion object {
        const val MOST_BYTES = 5
    }
}
