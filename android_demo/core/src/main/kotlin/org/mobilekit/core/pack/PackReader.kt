package org.mobilekit.core.pack

import org.mobilekit.core.artifact.hex
import java.io.RandomAccessFile
import java.util.zip.CRC32
import java.util.zip.DataFormatException
import java.util.zip.Inflater

/**
 * An open pack, checked but for its data; a [DamagedException] where it is not as it should be.
 *
 * Segments are decoded in the order of the directory.
 */
internal class PackReader(
    private val file: RandomAccessFile,
) : AutoCloseable {
    private val header: PackHeader
    private val decoding: Decoding

    val files: List<PackFile>

    val totalBytes: Long get() = header.totalBytes

    init {
        header = PackHeader.read(read(minOf(file.length(), PackHeader.SIZE.toLong()).toInt()))
        if (header.storedBytes > file.length() - PackHeader.SIZE) damaged("it is cut")
        val directory = Directory(directory())
        if (PackHeader.SIZE + header.storedBytes + directory.dataBytes != file.length()) {
            damaged("it is not as long as its parts")
        }
        if (directory.files.sumOf { it.bytes } != header.totalBytes) damaged("its files are not as long as it says")
        if (directory.sha256Lines() != hex(header.sha256)) damaged("its files have not the sha256 that it says")
        files = directory.files
        file.seek(PackHeader.SIZE + header.storedBytes)
        decoding = Decoding(header.laneSymbols, ::read)
    }

    fun decode(segment: Segment): ByteArray = decoding.segment(segment)

    override fun close(): Unit = decoding.close()

    private fun read(count: Int): ByteArray = ByteArray(count).also { file.readFully(it) }

    /** Inflated, in blocks: nothing says how long it is as it stands. */
    private fun directory(): ByteArray {
        val crc = CRC32()
        blocks { crc.update(it) }
        if (crc.value != header.storedCrc) damaged("its directory has another checksum")
        val (bytes, inflater) = ByteArray(header.directoryBytes) to Inflater(true)
        var at = 0
        try {
            blocks { block ->
                inflater.setInput(block)
                while (!inflater.needsInput() || inflater.finished()) {
                    val count = if (at < bytes.size) inflater.inflate(bytes, at, bytes.size - at) else over(inflater)
                    if (inflater.finished() && inflater.remaining > 0) damaged("more stands behind its directory")
                    if (count == 0) break
                    at += count
                }
            }
            if (at < bytes.size || !inflater.finished()) damaged("its directory is not as long as it says")
        } catch (error: DataFormatException) {
            damaged("its directory cannot be inflated")
        } finally {
            inflater.end()
        }
        return bytes
    }

    private fun over(inflater: Inflater): Int {
        if (inflater.inflate(ByteArray(1)) > 0) damaged("its directory is longer than it says")
        return 0
    }

    private fun blocks(each: (ByteArray) -> Unit) {
        file.seek(PackHeader.SIZE.toLong())
        var left = header.storedBytes
        while (left > 0) {
            val block = read(minOf(left, BLOCK).toInt())
            each(block)
            left -= block.size
        }
    }

    private companion object {
        const val BLOCK = 65_536L
    }
}
