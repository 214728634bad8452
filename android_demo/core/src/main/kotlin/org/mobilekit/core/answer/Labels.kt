package org.mobilekit.core.answer

import org.mobilekit.core.manifest.ProblemType
import kotlin.math.tanh

/**
 * All labels of a text, best first; [logits]: one a label.
 *
 * Chosen is the best of one choice; each of at least [threshold] where several may hold; every one in regression.
 */
internal fun decodeLabels(
    logits: FloatArray,
    labels: List<String>,
    problemType: ProblemType?,
    threshold: Double,
): List<Item> {
    val values =
        when (problemType) {
            ProblemType.SINGLE_LABEL -> softmax(logits)

            // Not 1 / (1 + exp(-x)), which overflows for a very negative logit.
            ProblemType.MULTI_LABEL -> DoubleArray(logits.size) { HALF * (1 + tanh(HALF * logits[it])) }

            else -> DoubleArray(logits.size) { logits[it].toDouble() }
        }
    val best = largestOf(values)
    val items =
        labels.mapIndexed { i, label ->
            val chosen =
                when (problemType) {
                    ProblemType.SINGLE_LABEL -> i == best
                    ProblemType.MULTI_LABEL -> values[i] >= threshold
                    else -> true
                }
            Item(label, values[i], chosen = chosen)
        }
    // 0 and -0 are the same.
    return items.sortedByDescending { it.score + 0.0 }
}

private const val HALF = 0.5
