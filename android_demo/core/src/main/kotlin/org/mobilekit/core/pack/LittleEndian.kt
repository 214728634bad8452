package org.mobilekit.core.pack

/** A pack is not as docs/pack-format.md says; [message] says how. */
internal class DamagedException(
    message: String,
) : Exception(message)

internal fun damaged(how: String): Nothing = throw DamagedException(how)

/** Unsigned numbers, little-endian, from front to back. Reading beyond the end is a [DamagedException]. */
internal class LittleEndian(
    private val bytes: ByteArray,
    var at: Int = 0,
) {
    fun u8(): Int = bytes[advance(1)].toInt() and BYTE

    fun u16(): Int = u8() or (u8() shl 8)

    fun u32(): Long = u16().toLong() or (u16().toLong() shl 16)

    /** Above 2^63 - 1 it is below 0, which no limit allows. */
    fun u64(): Long = u32() or (u32() shl 32)

    fun take(count: Int): ByteArray = advance(count).let { bytes.copyOfRange(it, it + count) }

    /** Moves on by [count] and gives where they begin. */
    fun advance(count: Int): Int {
        if (count > bytes.size - at) damaged("what it says of itself ends early")
        return at.also { at += count }
    }

    companion object {
        const val BYTE = 255
    }
}
