package org.mobilekit.demo.answers

import org.mobilekit.core.answer.Answer
import org.mobilekit.core.manifest.Manifest

/**
 * What came of asking.
 *
 * [answers]: one a text. [shown]: the text that spans are places in. [cosines]: of embeddings with each other, `[n][n]`,
 * else none. Times are milliseconds: of tokenizing, of the engine, and from text to answer; of all texts together.
 */
class Outcome(
    val manifest: Manifest,
    val answers: List<Answer>,
    val shown: String,
    val cosines: List<DoubleArray>,
    val tokenizingMs: Double,
    val runningMs: Double,
    val wholeMs: Double,
)
