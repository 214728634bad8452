package org.mobilekit.core.text.normalize

import org.mobilekit.core.ArtifactException

/**
 * SentencePiece's `precompiled_charsmap`: a trie over UTF-8 bytes, then what is written instead, each ended by a 0.
 *
 * The trie is a double array (darts-clone; Yata et al.) of 32-bit units: bits 0 to 7 the label, bit 8 whether a key ends
 * here, bits 10 to 30 how far its children are (shifted left by 8 where bit 9 is set), bit 31 whether it is a value.
 */
internal class CharacterMap private constructor(
    private val units: IntArray,
    private val texts: ByteArray,
) {
    /**
     * What is written for the shortest key that the characters [from] until [to] begin with; null where there is none.
     *
     * Throws ArtifactException where the map leads outside of itself.
     */
    fun find(
        points: IntArray,
        from: Int,
        to: Int,
    ): IntArray? {
        var node = offset(units[0])
        for (i in from until to) {
            val length = utf8Length(points[i])
            for (at in 0 until length) {
                val label = utf8Byte(points[i], length, at)
                if (label == 0) return null
                node = node xor label
                val unit = unit(node)
                if (unit and LABEL_BITS != label) return null
                node = node xor offset(unit)
                if (unit and HAS_VALUE != 0) return text(unit(node) and VALUE_BITS)
            }
        }
        return null
    }

    private fun unit(node: Int): Int = if (node in units.indices) units[node] else damaged("leads outside of its trie")

    private fun text(from: Int): IntArray {
        if (from >= texts.size) damaged("leads outside of its replacements")
        var to = from
        while (to < texts.size && texts[to] != 0.toByte()) to++
        if (texts[from].toInt() and CONTINUATION == CONTINUED) damaged("leads into the middle of a character")
        return String(texts, from, to - from, Charsets.UTF_8).codePointArray()
    }

    companion object {
        private const val HAS_VALUE = 1 shl 8
        private const val FAR = 1 shl 9
        private const val FAR_SHIFT = 8
        private const val OFFSET_SHIFT = 10
        private const val LABEL_BITS = 0xFF or (1 shl 31)
        private const val VALUE_BITS = Int.MAX_VALUE
        private const val UNIT_BYTES = 4
        private const val BYTE = 0xFF
        private const val CONTINUATION = 0xC0
        private const val CONTINUED = 0x80

        private fun offset(unit: Int): Int = (unit ushr OFFSET_SHIFT) shl (if (unit and FAR != 0) FAR_SHIFT else 0)

        private fun damaged(what: String): Nothing =
            throw ArtifactException("normalizer 'Precompiled': its character map $what.")

        /** Reads a map. Throws ArtifactException when it is none. */
        fun read(data: ByteArray): CharacterMap {
            if (data.size < UNIT_BYTES) damaged("is too short")
            val bytes = int(data, 0)
            if (bytes < UNIT_BYTES || bytes % UNIT_BYTES != 0 || bytes > data.size - UNIT_BYTES) {
                damaged("has ${data.size} bytes and says that its trie has $bytes")
            }
            val units = IntArray(bytes / UNIT_BYTES) { int(data, UNIT_BYTES * (it + 1)) }
            val texts = data.copyOfRange(UNIT_BYTES + bytes, data.size)
            if (!isUtf8(texts)) damaged("has replacements that are not UTF-8")
            return CharacterMap(units, texts)
        }

        /** Little-endian. */
        private fun int(
            data: ByteArray,
            at: Int,
        ): Int {
            var value = 0
            for (i in UNIT_BYTES - 1 downTo 0) value = (value shl Byte.SIZE_BITS) or (data[at + i].toInt() and BYTE)
            return value
        }

        private fun isUtf8(bytes: ByteArray): Boolean =
            String(bytes, Charsets.UTF_8).toByteArray(Charsets.UTF_8).contentEquals(bytes)
    }
}
