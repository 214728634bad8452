package org.mobilekit.core.text.process

import org.mobilekit.core.text.model.Vocabulary
import org.mobilekit.core.text.split.ByteAlphabet
import org.mobilekit.core.text.unicode.Unicode

/** How much white space tokens begin and end with, as they are written: also the sign that stands for a space. */
internal class TokenSpaces(
    private val vocabulary: Vocabulary,
) {
    /** What was counted before; threads may fill it at once, since they would write the same. */
    private val counted = IntArray(vocabulary.size) { NONE }

    /** Of a token of the vocabulary: [leading] and [trailing] take it apart. */
    fun of(id: Int): Int {
        if (id !in counted.indices) return of(vocabulary.token(id).orEmpty())
        if (counted[id] == NONE) counted[id] = of(vocabulary.token(id).orEmpty())
        return counted[id]
    }

    companion object {
        private const val NONE = -1
        private const val BITS = 15
        private const val MOST = (1 shl BITS) - 1

        fun of(text: String): Int {
            val leading = text.takeWhile(::isSpace).length
            val trailing = text.takeLastWhile(::isSpace).length
            return (minOf(leading, MOST) shl BITS) or minOf(trailing, MOST)
        }

        fun leading(counts: Int): Int = counts ushr BITS

        fun trailing(counts: Int): Int = counts and MOST

        private fun isSpace(char: Char): Boolean =
            char.code == ByteAlphabet.space || Unicode.has(char.code, Unicode.WHITE)
    }
}
