package org.mobilekit.core.check

import org.junit.Test
import org.mobilekit.core.manifest.Precision
import kotlin.test.assertEquals

class ThresholdsTest {
    @Test
    fun `padding may change small outputs by a fixed figure and large ones by a share`() {
        val least = mapOf(Precision.SINGLE to 1e-5, Precision.HALF to 2e-3, Precision.QUANTIZED to 5e-3)
        for ((precision, limit) in least + (Precision.STATIC to 5e-3)) {
            assertEquals(limit, paddingLimit(precision, 0.1))
        }
        assertEquals(2e-4, paddingLimit(Precision.SINGLE, 100.0), 1e-12)
        assertEquals(0.1953125, paddingLimit(Precision.HALF, 100.0))
        assertEquals(0.1953125, paddingLimit(Precision.QUANTIZED, 100.0))
        // Two steps of int8.
        assertEquals(200.0 / 127, paddingLimit(Precision.STATIC, 100.0))
    }
}
