package org.mobilekit.core.pack

import java.util.zip.CRC32

/** The first [SIZE] bytes of a pack. */
internal class PackHeader(
    val laneSymbols: Int,
    val directoryBytes: Int,
    val storedBytes: Long,
    val storedCrc: Long,
    val totalBytes: Long,
    val sha256: ByteArray,
) {
    companion object {
        const val SIZE = 68
        private const val CHECKED = 64
        private const val VERSION = 1
        private const val MOST_DIRECTORY = 16L shl 20
        private const val SHA256_BYTES = 32
        private val LANES = 6..12
        private val MAGIC = byteArrayOf(0x89.toByte(), 0x4D, 0x4B, 0x50, 0x0D, 0x0A, 0x1A, 0x0A)

        /** Throws [NewerPackException] for a later version. */
        fun read(bytes: ByteArray): PackHeader {
            if (bytes.size < SIZE || !MAGIC.indices.all { bytes[it] == MAGIC[it] }) damaged("it is no pack")
            val fields = LittleEndian(bytes, CHECKED)
            if (crc(bytes, 0, CHECKED) != fields.u32()) damaged("its header has another checksum")
            fields.at = MAGIC.size
            val version = fields.u16()
            if (version > VERSION) throw NewerPackException(version)
            val lane = fields.u8()
            if (version < VERSION || lane !in LANES || fields.u8() != 0) damaged("its header is none")
            val directory = fields.u32()
            if (directory > MOST_DIRECTORY) damaged("its directory is too large")
            val (stored, storedCrc) = fields.u32() to fields.u32()
            return PackHeader(1 shl lane, directory.toInt(), stored, storedCrc, fields.u64(), fields.take(SHA256_BYTES))
        }
    }
}

/** A pack of a later version than this decoder knows. */
internal class NewerPackException(
    val version: Int,
) : Exception()

internal fun crc(
    bytes: ByteArray,
    start: Int = 0,
    count: Int = bytes.size,
): Long = CRC32().apply { update(bytes, start, count) }.value
