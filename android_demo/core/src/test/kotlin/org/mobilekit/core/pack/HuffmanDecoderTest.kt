package org.mobilekit.core.pack

import org.junit.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

class HuffmanDecoderTest {
    /** `a` is the bit 0, `b` the bit 1. */
    private val book = Book(8, 1, "ab".toByteArray(), -1, byteArrayOf(1, 1))

    private fun decoded(vararg data: Int): String =
        HuffmanDecoder(book, 64).decode(ByteArray(data.size) { data[it].toByte() }, 4, ByteArray(0)).decodeToString()

    @Test
    fun `a lane ends with its last symbol, and zeros to the end of the byte`() {
        assertEquals("abba", decoded(1, 0, 0b0110))
        assertFailsWith<DamagedException> { decoded(1, 0, 0b10110) }
        assertFailsWith<DamagedException> { decoded(2, 0, 0b0110, 0) }
        assertFailsWith<DamagedException> { decoded(0, 0) }
        assertFailsWith<DamagedException> { decoded(1, 0, 0b0110, 0) }
    }

    @Test
    fun `names that are one for some systems, or a file's and a folder's, are refused`() {
        refuseNames(listOf("a", "a.b", "b/c", "b/d/e", "b0"))
        val wrong =
            listOf(listOf("a", "a/b"), listOf("B", "b"), listOf("B/x", "b/y"), listOf("A", "a/b"), listOf("a", "a"))
        for (names in wrong) assertFailsWith<DamagedException>("$names") { refuseNames(names) }
    }
}
