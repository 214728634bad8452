package org.mobilekit.core.text.split

/** The characters that stand for bytes in byte-level vocabularies (Radford et al. 2019): no white space among them. */
internal object ByteAlphabet {
    private const val BYTES = 0x100
    private const val FIRST_STAND_IN = 0x100

    private val characters = IntArray(BYTES)
    private val bytes: Map<Int, Int>

    /** What stands for a space. */
    val space: Int

    init {
        var standIn = FIRST_STAND_IN
        for (byte in 0 until BYTES) characters[byte] = if (isWrittenAsItself(byte)) byte else standIn++
        bytes = characters.withIndex().associate { (byte, character) -> character to byte }
        space = characters[0x20]
    }

    fun character(byte: Int): Int = characters[byte]

    /** The byte that a character stands for, or -1. */
    fun byte(character: Int): Int = bytes[character] ?: -1

    private fun isWrittenAsItself(byte: Int): Boolean = byte in 0x21..0x7E || byte in 0xA1..0xAC || byte in 0xAE..0xFF
}
