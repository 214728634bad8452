package org.mobilekit.core.measure

/** Figures of runs of the same work, in milliseconds (docs/benchmarking.md, "Figures of runs"). */
data class Statistics(
    val medianMs: Double,
    val p90Ms: Double,
    val middle80MeanMs: Double,
    val spread: Double,
    val runs: Int,
) {
    companion object {
        private const val CUT = 0.1

        /** Of one run or more. Throws [IllegalArgumentException] for none. */
        fun of(milliseconds: List<Double>): Statistics {
            require(milliseconds.isNotEmpty()) { "there are no figures of no runs" }
            val sorted = milliseconds.sorted()
            val (low, median, high) = listOf(CUT, MIDDLE, 1 - CUT).map { quantile(sorted, it) }
            val inner = sorted.filter { it in low..high }
            val mean = if (inner.isEmpty()) median else inner.average()
            // A clock that did not move gives no median to divide by.
            val spread = if (median == 0.0) 0.0 else (high - low) / median
            return Statistics(median, high, mean, spread, sorted.size)
        }
    }
}

internal const val MIDDLE = 0.5

/** The [share]-quantile of ascending values, interpolated linearly. */
internal fun quantile(
    sorted: List<Double>,
    share: Double,
): Double {
    val place = (sorted.size - 1) * share
    val whole = place.toInt()
    val next = sorted.getOrElse(whole + 1) { sorted[whole] }
    return sorted[whole] + (place - whole) * (next - sorted[whole])
}

internal fun median(values: List<Double>): Double = quantile(values.sorted(), MIDDLE)
