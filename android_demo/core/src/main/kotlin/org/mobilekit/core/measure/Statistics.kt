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
        /** Of one run or more. Throws [IllegalArgumentException] for none. */
        fun of(milliseconds: List<Double>): Statistics = TODO("$milliseconds")
    }
}
