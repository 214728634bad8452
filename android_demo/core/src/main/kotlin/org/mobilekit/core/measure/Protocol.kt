package org.mobilekit.core.measure

/**
 * How it is measured (docs/benchmarking.md).
 *
 * [threads] of each engine. [loadRepeats]: how often each file is loaded. A round is a burst of each contender, of runs
 * one after the other for [burstSeconds], after one that does not count; rounds go on until each contender has
 * [leastRuns] and [leastSeconds], [LEAST_ROUNDS] at least. [texts]: those that come as they come, or null.
 */
data class Protocol(
    val threads: Int,
    val loadRepeats: Int = 3,
    val leastRuns: Int = 20,
    val leastSeconds: Double = 1.0,
    val burstSeconds: Double = 0.05,
    val texts: Texts? = null,
) {
    companion object {
        const val LEAST_ROUNDS = 10
    }
}
