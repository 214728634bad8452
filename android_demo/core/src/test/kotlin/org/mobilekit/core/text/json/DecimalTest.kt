package org.mobilekit.core.text.json

import org.junit.Test
import kotlin.test.assertEquals
import kotlin.test.assertNotEquals
import kotlin.test.assertNull

class DecimalTest {
    @Test
    fun `short numbers are the nearest double`() {
        for (text in listOf("0", "-0.5", "12", "-9.17134094238281", "1e3", "2.5E-3", "1e308", "-1.5e+2", "1e-320")) {
            assertEquals(text.toDouble(), decimal(text), text)
        }
        assertEquals("-0.0", decimal("-0").toString())
    }

    @Test
    fun `long numbers are rounded twice, as the reference library does`() {
        // 17 digits are no double; that one, divided, is one unit in the last place away.
        val text = "-14.059119224548340"
        assertEquals(-(14059119224548340L.toDouble() / 1e15), decimal(text))
        val away =
            (0 until 1000).map { "0.${92_000_000_000_000_001L + 37L * it}" }.filter {
                decimal(it) !=
                    it.toDouble()
            }
        assertNotEquals(0, away.size)
        assertEquals(0.1234567890123456789012345, decimal("0.1234567890123456789012345")!!, 1e-16)
        assertEquals(1e25, decimal("9999999999999999999999999")!!, 1e10)
    }

    @Test
    fun `what is no number or too large is none`() {
        val wrong = listOf("", "-", "1.", ".5", "01", "1e", "+1", "1e+", "--1", "1-2", "1e1.5", "1e999999999")
        for (text in wrong + listOf("1e309", "-1e400", "NaN")) assertNull(decimal(text), text)
        assertEquals(0.0, decimal("1e-99999"))
    }
}
