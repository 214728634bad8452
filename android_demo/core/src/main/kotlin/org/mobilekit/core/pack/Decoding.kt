package org.mobilekit.core.pack

import java.util.zip.DataFormatException
import java.util.zip.Inflater

/** Streams of a pack to bytes, one segment at a time. [laneSymbols]: of Huffman streams. [next]: the data, in order. */
internal class Decoding(
    private val laneSymbols: Int,
    private val next: (count: Int) -> ByteArray,
) : AutoCloseable {
    private val inflater = Inflater(true)
    private var book: Book? = null
    private var decoder: HuffmanDecoder? = null

    /** The bytes of a segment; a [DamagedException] where its data are otherwise than declared. */
    fun segment(segment: Segment): ByteArray {
        if (segment.planes.size == 1) return stream(segment.planes.single(), segment.length)
        val whole = ByteArray(segment.length)
        segment.planes.forEachIndexed { k, plane ->
            val bytes = stream(plane, segment.planeLength(k))
            for (i in bytes.indices) whole[k + i * segment.planes.size] = bytes[i]
        }
        return whole
    }

    private fun stream(
        stream: PackStream,
        length: Int,
    ): ByteArray {
        val data = next(stream.size)
        if (crc(data) != stream.crc) damaged("a part of it has another checksum")
        return when (stream.coding) {
            PackStream.RAW -> {
                data
            }

            PackStream.DEFLATE -> {
                inflated(data, length)
            }

            else -> {
                val escapes = stream.escapes?.let { stream(it, stream.escapeCount) } ?: ByteArray(0)
                decoder(checkNotNull(stream.book)).decode(data, length, escapes)
            }
        }
    }

    private fun inflated(
        data: ByteArray,
        length: Int,
    ): ByteArray {
        inflater.reset()
        inflater.setInput(data)
        val bytes = ByteArray(length)
        try {
            if (fill(bytes) < length || fill(ByteArray(1)) > 0 || !inflater.finished() || inflater.remaining > 0) {
                damaged("a deflated part is not as long as declared")
            }
        } catch (error: DataFormatException) {
            damaged("a deflated part is broken")
        }
        return bytes
    }

    private fun fill(bytes: ByteArray): Int {
        var at = 0
        while (at < bytes.size) {
            val count = inflater.inflate(bytes, at, bytes.size - at)
            if (count == 0) break
            at += count
        }
        return at
    }

    /** Neighbouring streams often share a book. */
    private fun decoder(wanted: Book): HuffmanDecoder =
        decoder?.takeIf { book === wanted } ?: HuffmanDecoder(wanted, laneSymbols).also {
            book = wanted
            decoder = it
        }

    override fun close(): Unit = inflater.end()
}
