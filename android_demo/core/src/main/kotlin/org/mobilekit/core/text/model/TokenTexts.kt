package org.mobilekit.core.text.model

/** The texts of tokens as UTF-8, in a row: a quarter of a million strings would take several times as much. */
internal class TokenTexts {
    private var bytes = ByteArray(FIRST_BYTES)
    private var ends = IntArray(FIRST_TOKENS)

    var size = 0
        private set

    fun add(text: String) {
        val encoded = text.toByteArray(Charsets.UTF_8)
        val begin = if (size == 0) 0 else ends[size - 1]
        if (begin + encoded.size > bytes.size) bytes = bytes.copyOf(maxOf(2 * bytes.size, begin + encoded.size))
        if (size == ends.size) ends = ends.copyOf(2 * size)
        encoded.copyInto(bytes, begin)
        ends[size++] = begin + encoded.size
    }

    operator fun get(index: Int): String {
        val begin = if (index == 0) 0 else ends[index - 1]
        return String(bytes, begin, ends[index] - begin, Charsets.UTF_8)
    }

    private companion object {
        const val FIRST_BYTES = 1 shl 12
        const val FIRST_TOKENS = 1 shl 8
    }
}
