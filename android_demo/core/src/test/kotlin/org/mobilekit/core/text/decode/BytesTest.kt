package org.mobilekit.core.text.decode

import org.junit.Test
import kotlin.test.assertEquals

class BytesTest {
    private fun decode(vararg bytes: Int): String = lenientUtf8(ByteArray(bytes.size) { bytes[it].toByte() })

    @Test
    fun `text comes back as it was`() {
        val text = "a\u00E9\u65E5\uD83D\uDE00\u0000"
        assertEquals(text, lenientUtf8(text.toByteArray()))
    }

    @Test
    fun `each longest begin of a character is one replacement`() {
        assertEquals("\uFFFDa", decode(0xE6, 0x97, 0x61))
        assertEquals("\uFFFD\uFFFD", decode(0xC0, 0x80))
        assertEquals("\uFFFD\uFFFD\uFFFD", decode(0xED, 0xA0, 0x80))
        assertEquals("\uFFFD", decode(0xF0, 0x9F, 0x98))
        assertEquals("\uFFFD\uFFFD\uFFFD\uFFFD", decode(0xF5, 0x80, 0x80, 0x80))
        assertEquals("\uFFFD\uFFFD\uFFFD\uFFFD", decode(0xF4, 0x90, 0x80, 0x80))
        assertEquals("\uFFFD\uFFFDz", decode(0x80, 0xFF, 0x7A))
    }
}
