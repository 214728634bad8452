package org.mobilekit.core.check

import org.mobilekit.core.answer.TextModel

/**
 * One check: what was measured, what the limit is, and whether it held.
 *
 * [about]: what is compared, in words. [measured], [limit]: with their figures. [passed]: false also where the check
 * itself failed, and then [measured] is the error.
 */
data class CheckRow(
    val name: String,
    val about: String,
    val passed: Boolean,
    val measured: String,
    val limit: String,
)

/** All checks of an artifact on this device. */
data class SelfCheckResult(
    val rows: List<CheckRow>,
) {
    val passed: Boolean get() = rows.all { it.passed }

    /** In a line, for a report: which checks failed and by how much, or that all held. */
    val said: String get() = TODO()
}

/**
 * Whether an artifact works on this device, from its manifest alone (docs/checks.md).
 *
 * [cancelled] is asked between runs; throws [java.util.concurrent.CancellationException] where it was, and nothing else:
 * what fails is a row.
 */
fun selfCheck(
    model: TextModel,
    cancelled: () -> Boolean = { false },
): SelfCheckResult = TODO("$model $cancelled")
