package org.mobilekit.core.measure

import org.junit.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertNull
import kotlin.test.assertTrue

class StatisticsTest {
    @Test
    fun `the example of docs-benchmarking`() {
        val runs = Statistics.of(((1..10) + 20).map { it.toDouble() }.shuffled())
        assertEquals(listOf(6.0, 10.0, 6.0), listOf(runs.medianMs, runs.p90Ms, runs.middle80MeanMs))
        assertEquals(1.33, runs.spread, 0.005)
        assertEquals(11, runs.runs)
    }

    @Test
    fun `between two runs figures are interpolated`() {
        val runs = Statistics.of(listOf(4.0, 1.0, 2.0))
        // numpy.quantile([1, 2, 4], [0.1, 0.5, 0.9]) is [1.2, 2, 3.6]: only 2 lies between the outer ones.
        assertEquals(listOf(2.0, 2.0), listOf(runs.medianMs, runs.middle80MeanMs))
        assertEquals(3.6, runs.p90Ms, 1e-12)
        assertEquals(1.2, runs.spread, 1e-12)
    }

    @Test
    fun `of two runs, none of which lies between, the middle is the median`() =
        assertEquals(1.5, Statistics.of(listOf(1.0, 2.0)).middle80MeanMs)

    @Test
    fun `one run is all figures, and none has none`() {
        assertEquals(Statistics(3.0, 3.0, 3.0, 0.0, 1), Statistics.of(listOf(3.0)))
        assertEquals(0.0, Statistics.of(listOf(0.0)).spread)
        assertFailsWith<IllegalArgumentException> { Statistics.of(emptyList()) }
    }

    @Test
    fun `a ratio is taken within rounds, so that drift does not count`() {
        val base = List(12) { listOf(1.0 + it, 1.0 + it, 99.0) }
        val found = ratio("a" to base.map { round -> round.map { 2 * it } }, "b" to base, "8")
        assertEquals(Ratio("a", "b", "8", 2.0, 2.0, 2.0), found?.copy(median = 2.0, low = 2.0, high = 2.0))
        assertEquals(2.0, checkNotNull(found).low, 1e-9)
        assertEquals(2.0, found.high, 1e-9)
    }

    @Test
    fun `rounds that do not agree have an interval around the median`() {
        val base = List(11) { listOf(1.0) }
        val found = checkNotNull(ratio("a" to List(11) { listOf(1.0 + it % 3) }, "b" to base, "rows"))
        assertEquals(2.0, found.median, 1e-9)
        assertTrue(found.low in 0.99..2.01 && found.high in 1.99..3.01 && found.low < found.high, "$found")
    }

    @Test
    fun `a clock that did not move gives no ratio`() =
        assertNull(ratio("a" to listOf(listOf(1.0)), "b" to listOf(listOf(0.0)), "8"))
}
