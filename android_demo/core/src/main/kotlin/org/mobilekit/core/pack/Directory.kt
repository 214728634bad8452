package org.mobilekit.core.pack

import org.mobilekit.core.artifact.hex
import org.mobilekit.core.artifact.sha256

/** How bytes are coded. [book]: of Huffman codes, else null. [escapes]: those of its values, [escapeCount] bytes. */
internal class PackStream(
    val coding: Int,
    val size: Int,
    val crc: Long,
    val book: Book?,
    val escapeCount: Int,
    val escapes: PackStream?,
) {
    companion object {
        const val RAW = 0
        const val DEFLATE = 1
        const val HUFFMAN = 2
    }
}

/** A part of a file; stream k has the bytes at k, k + planes, k + 2 planes, ... */
internal class Segment(
    val length: Int,
    val planes: List<PackStream>,
) {
    fun planeLength(plane: Int): Int = planeLength(length, plane, planes.size)
}

internal fun planeLength(
    length: Int,
    plane: Int,
    planes: Int,
): Int = (length - plane + planes - 1) / planes

internal class PackFile(
    val name: String,
    val bytes: Long,
    val sha256: ByteArray,
    val segments: List<Segment>,
)

/** What stands in a pack; reading it holds every limit and sum of docs/pack-format.md. */
internal class Directory(
    bytes: ByteArray,
) {
    private val fields = LittleEndian(bytes)
    private var segmentsLeft = MOST_SEGMENTS
    private val books: List<Book>

    val files: List<PackFile>

    init {
        val bookCount = fields.u16()
        if (bookCount > MOST_BOOKS) damaged("it has $bookCount books")
        val fileCount = fields.u32()
        if (fileCount !in 1..MOST_FILES) damaged("it has $fileCount files")
        books = List(bookCount) { Book.read(fields) }
        files = List(fileCount.toInt()) { file() }
        if (fields.at != bytes.size) damaged("its directory is longer than it says")
        refuseNames(files.map { it.name })
    }

    /** Bytes of all coded streams. */
    val dataBytes: Long
        get() =
            files.sumOf { file ->
                file.segments.sumOf { segment -> segment.planes.sumOf { it.size + (it.escapes?.size ?: 0).toLong() } }
            }

    /** sha256 over a line for each file, as a folder's in a manifest. */
    fun sha256Lines(): String = sha256(files.joinToString("") { "${hex(it.sha256)}  ${it.name}\n" }.toByteArray())

    private fun file(): PackFile {
        val name = nameOf(fields.take(fields.u16()))
        val (bytes, sha256, count) = Triple(fields.u64(), fields.take(SHA256_BYTES), fields.u32())
        if (count > segmentsLeft) damaged("it has more than $MOST_SEGMENTS segments")
        segmentsLeft -= count.toInt()
        val segments = List(count.toInt()) { segment() }
        if (segments.sumOf { it.length.toLong() } != bytes) damaged("the segments of $name are not as long as it")
        return PackFile(name, bytes, sha256, segments)
    }

    private fun segment(): Segment {
        val length = fields.u32()
        if (length > MOST_LENGTH) damaged("a segment has $length bytes")
        val planes = fields.u8()
        if (planes !in PLANES || planes > length) damaged("a segment of $length bytes has $planes planes")
        return Segment(
            length.toInt(),
            List(planes) { stream(planeLength(length.toInt(), it, planes), escaped = false) },
        )
    }

    /** [decoded]: bytes it decodes to. [escaped]: whether they are escapes of another one. */
    private fun stream(
        decoded: Int,
        escaped: Boolean,
    ): PackStream {
        val (coding, size, crc) = Triple(fields.u8(), fields.u32(), fields.u32())
        if (coding > PackStream.HUFFMAN) damaged("a stream has the coding $coding")
        if (if (coding == PackStream.RAW) size != decoded.toLong() else size > decoded) {
            damaged("a stream has $size bytes for $decoded")
        }
        if (coding != PackStream.HUFFMAN) return PackStream(coding, size.toInt(), crc, null, 0, null)
        val book = books.getOrNull(fields.u16()) ?: damaged("a stream is of a book that is not there")
        if (book.escape < 0) return PackStream(coding, size.toInt(), crc, book, 0, null)
        if (escaped) damaged("escapes have escapes")
        val count = fields.u32()
        if (count > valuesOf(decoded, book.width)) damaged("a stream has $count escapes")
        return PackStream(coding, size.toInt(), crc, book, count.toInt(), stream(count.toInt(), escaped = true))
    }

    private companion object {
        const val MOST_BOOKS = 16_384
        const val MOST_FILES = 4_096L
        const val MOST_SEGMENTS = 65_536
        const val MOST_LENGTH = 4_194_304L
        const val SHA256_BYTES = 32
        val PLANES = setOf(1, 2, 4)
    }
}

/** Values of [width] bits in so many bytes, the last one filled with zeros. */
internal fun valuesOf(
    bytes: Int,
    width: Int,
): Int = ((bytes.toLong() * Byte.SIZE_BITS + width - 1) / width).toInt()
