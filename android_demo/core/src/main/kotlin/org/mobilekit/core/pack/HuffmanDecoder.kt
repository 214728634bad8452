package org.mobilekit.core.pack

import java.nio.ByteBuffer
import java.nio.ByteOrder

/** Huffman streams of one book to bytes. */
internal class HuffmanDecoder(
    private val book: Book,
    private val laneSymbols: Int,
) {
    private val table = book.table()
    private val mask = table.size - 1

    /** By symbol: the values of its group, a byte each, the first one lowest; an escape's place is 0 ... */
    private val values: LongArray

    /** ... and has a bit here. */
    private val escapes: ByteArray

    init {
        val symbols = maxOf(1, book.lengths.size)
        values = LongArray(symbols)
        escapes = ByteArray(symbols)
        for (symbol in 0 until symbols) {
            book.indices(symbol).forEachIndexed { k, index ->
                if (index == book.escape) {
                    escapes[symbol] = (escapes[symbol].toInt() or (1 shl k)).toByte()
                } else {
                    values[symbol] = values[symbol] or ((book.values[index].toLong() and BYTE) shl Byte.SIZE_BITS * k)
                }
            }
        }
    }

    /** So many bytes out of a stream's [data]; [escaped]: the values that have no index, in order. */
    fun decode(
        data: ByteArray,
        length: Int,
        escaped: ByteArray,
    ): ByteArray {
        val count = valuesOf(length, book.width)
        if (escaped.any { it.toInt() and BYTE.toInt() >= 1 shl book.width }) damaged("an escape is too large")
        val symbols = symbols(data, (count + book.group - 1) / book.group)
        val found = ByteArray(count)
        put(symbols, found, escaped)
        return if (book.width == Byte.SIZE_BITS) found else packed(found, length)
    }

    /** Symbols lane by lane. */
    private fun symbols(
        data: ByteArray,
        count: Int,
    ): ShortArray {
        val lanes = (count + laneSymbols - 1) / laneSymbols
        if (2L * lanes > data.size) damaged("a table of lanes is cut")
        val sizes = LittleEndian(data)
        val found = ShortArray(count)
        val bits = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN)
        var at = 2 * lanes
        for (lane in 0 until lanes) {
            val end = at + sizes.u16()
            if (end > data.size) damaged("a lane is cut")
            lane(bits, at, end, found, lane * laneSymbols, minOf(count, (lane + 1) * laneSymbols))
            at = end
        }
        if (at != data.size) damaged("more stands behind the lanes")
        return found
    }

    /** The symbols [from] until [until] out of the bytes [start] until [end]. */
    private fun lane(
        data: ByteBuffer,
        start: Int,
        end: Int,
        found: ShortArray,
        from: Int,
        until: Int,
    ) {
        var bit = start.toLong() * Byte.SIZE_BITS
        var i = from
        // A word has 57 bits at least behind the bits that are done: three codes.
        while (i + 3 <= until && (bit shr 3) + Long.SIZE_BYTES <= end) {
            var word = data.getLong((bit shr 3).toInt()) ushr (bit and 7).toInt()
            repeat(3) {
                val entry = table[word.toInt() and mask]
                found[i++] = (entry shr Book.LENGTH_BITS).toShort()
                word = word ushr (entry and LENGTH)
                bit += entry and LENGTH
            }
        }
        while (i < until) {
            val entry = table[word(data, bit, end) and mask]
            found[i++] = (entry shr Book.LENGTH_BITS).toShort()
            bit += entry and LENGTH
        }
        val left = end.toLong() * Byte.SIZE_BITS - bit
        if (left !in 0..7 || word(data, bit, end) != 0) damaged("a lane does not end where it says")
    }

    /** The next bits of a lane, zeros behind its end. */
    private fun word(
        data: ByteBuffer,
        bit: Long,
        end: Int,
    ): Int {
        var word = 0
        val at = (bit shr 3).toInt()
        for (k in 0 until minOf(3, end - at)) word = word or ((data.get(at + k).toInt() and BYTE.toInt()) shl 8 * k)
        return word ushr (bit and 7).toInt()
    }

    /** The values that symbols mean; those of the last one that are too many are dropped. */
    private fun put(
        symbols: ShortArray,
        found: ByteArray,
        escaped: ByteArray,
    ) {
        if (book.group == 1 && book.escape < 0) {
            for (i in found.indices) found[i] = values[symbols[i].toInt()].toByte()
            return
        }
        var taken = 0
        var at = 0
        for (symbol in symbols) {
            var group = values[symbol.toInt()]
            val missing = escapes[symbol.toInt()].toInt()
            for (k in 0 until minOf(book.group, found.size - at)) {
                val escape = missing shr k and 1 == 1
                if (escape && taken == escaped.size) damaged("it has more escapes than declared")
                found[at++] = if (escape) escaped[taken++] else group.toByte()
                group = group ushr Byte.SIZE_BITS
            }
        }
        if (taken != escaped.size) damaged("it has fewer escapes than declared")
    }

    /** Values of six bits, one behind the other, cut at so many bytes. */
    private fun packed(
        values: ByteArray,
        length: Int,
    ): ByteArray {
        val bytes = ByteArray(length)
        for (i in 0 until length) {
            // Byte i begins within value 4 i / 3, at an even bit of it.
            val first = 4 * i / 3
            val shift = 8 * i - 6 * first
            val next = values.getOrElse(first + 1) { 0 }.toInt()
            bytes[i] = ((values[first].toInt() shr shift) or (next shl (6 - shift))).toByte()
        }
        return bytes
    }

    private companion object {
        const val BYTE = 255L
        const val LENGTH = 15
    }
}
