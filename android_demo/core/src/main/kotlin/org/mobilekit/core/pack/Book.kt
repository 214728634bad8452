package org.mobilekit.core.pack

/**
 * A canonical Huffman code that streams share.
 *
 * [width]: bits a value. [group]: values a symbol. [values]: by index. [escape]: the index that stands for every other
 * value, or -1. [lengths]: of each symbol's code, empty where there is one symbol only.
 */
internal class Book(
    val width: Int,
    val group: Int,
    val values: ByteArray,
    val escape: Int,
    val lengths: ByteArray,
) {
    private val radix: Int get() = values.size + if (escape < 0) 0 else 1

    /** Bits of the longest code. */
    val longest: Int get() = lengths.maxOrNull()?.toInt() ?: 0

    /**
     * For each string of [longest] bits, the first one lowest: the symbol it begins with times 16, and its length.
     */
    fun table(): IntArray {
        val table = IntArray(1 shl longest)
        var code = 0
        for (length in 1..longest) {
            for (symbol in lengths.indices) {
                if (lengths[symbol].toInt() != length) continue
                val first = Integer.reverse(code) ushr (Int.SIZE_BITS - length)
                for (i in first until table.size step (1 shl length)) table[i] = (symbol shl LENGTH_BITS) or length
                code++
            }
            code = code shl 1
        }
        return table
    }

    /** The indices that each symbol means, a byte each, the first one lowest; of groups of one the symbol is it. */
    fun indices(symbol: Int): IntArray {
        var rest = symbol
        return IntArray(group) { (rest % radix).also { rest /= radix } }
    }

    companion object {
        const val LENGTH_BITS = 4
        private const val MOST_SYMBOLS = 4096
        private const val MOST_LENGTH = 15
        private const val NIBBLE = 15

        fun read(fields: LittleEndian): Book {
            val (width, group) = fields.u8() to fields.u8()
            if (width != 8 && width != 6) damaged("a book has values of $width bits")
            if (group !in 1..8 || group.countOneBits() != 1) damaged("a book has groups of $group")
            val escape = fields.u8()
            if (escape > 1) damaged("a book's escape is $escape")
            val bits = fields.take((1 shl width) / Byte.SIZE_BITS)
            val known = (0 until (1 shl width)).filter { bits[it shr 3].toInt() shr (it and 7) and 1 == 1 }
            val symbols = symbols(known.size + escape, group)
            val values = ByteArray(known.size) { known[it].toByte() }
            return Book(width, group, values, if (escape == 1) known.size else -1, lengths(fields, symbols))
        }

        private fun symbols(
            radix: Int,
            group: Int,
        ): Int {
            var symbols = 1L
            repeat(group) { symbols = minOf(symbols * radix, MOST_SYMBOLS + 1L) }
            if (symbols !in 1..MOST_SYMBOLS) damaged("a book has no symbols, or over $MOST_SYMBOLS")
            return symbols.toInt()
        }

        private fun lengths(
            fields: LittleEndian,
            symbols: Int,
        ): ByteArray {
            if (symbols == 1) return ByteArray(0)
            val packed = fields.take((symbols + 1) / 2)
            if (symbols % 2 == 1 &&
                packed.last().toInt() shr 4 and NIBBLE != 0
            ) {
                damaged("a book is longer than it says")
            }
            val lengths = ByteArray(symbols) { (packed[it / 2].toInt() shr 4 * (it % 2) and NIBBLE).toByte() }
            val used = lengths.sumOf { if (it > 0) 1 shl (MOST_LENGTH - it) else 0 }
            if (used != 1 shl MOST_LENGTH) damaged("a book's code is not complete")
            return lengths
        }
    }
}
