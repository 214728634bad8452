package org.mobilekit.core.measure

import java.util.Random
import kotlin.math.exp
import kotlin.math.ln

/** How many times as long a [row] takes as [base] at a [work]: [median] over rounds, 95 % interval [low]..[high]. */
data class Ratio(
    val row: String,
    val base: String,
    val work: String,
    val median: Double,
    val low: Double,
    val high: Double,
)

private const val DRAWS = 1000
private const val TAIL = 0.025

/** Runs by round, milliseconds. */
internal typealias Rounds = List<List<Double>>

/**
 * Of two that were measured in the same rounds: in each the quotient of the two medians; their median over rounds, and
 * its percentile interval by a bootstrap of the rounds (Efron 1979), always by the same draws. Null where a clock did
 * not move.
 */
internal fun ratio(
    row: Pair<String, Rounds>,
    base: Pair<String, Rounds>,
    work: String,
): Ratio? {
    val logs = row.second.zip(base.second) { one, other -> ln(median(one) / median(other)) }
    if (logs.isEmpty() || !logs.all { it.isFinite() }) return null
    val random = Random(0)
    val drawn = List(DRAWS) { median(List(logs.size) { logs[random.nextInt(logs.size)] }) }.sorted()
    val (low, high) = quantile(drawn, TAIL) to quantile(drawn, 1 - TAIL)
    return Ratio(row.first, base.first, work, exp(median(logs)), exp(low), exp(high))
}
