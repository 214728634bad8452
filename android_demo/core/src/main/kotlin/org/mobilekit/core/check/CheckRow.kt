package org.mobilekit.core.check

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

    /** In a line, for a report: which checks failed and by how much, or what the outputs were measured as. */
    val said: String
        get() {
            val told = rows.filterNot { it.passed }.ifEmpty { rows.filter { it.name == "output" } }
            return told.joinToString("; ") {
                "${it.name}: ${it.measured}" +
                    if (it.limit ==
                        ""
                    ) {
                        ""
                    } else {
                        " (${it.limit})"
                    }
            }
        }
}
