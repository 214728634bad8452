package org.mobilekit.demo.problem

import android.content.Intent
import org.mobilekit.core.check.CheckRow

/** Rows of a self-check in an intent: core knows nothing of Android, so its types cannot travel by themselves. */
internal object CheckRows {
    /** Put rows into an intent. */
    fun put(
        intent: Intent,
        rows: List<CheckRow>,
    ) {
        intent.putExtra(NAMES, rows.map { it.name }.toTypedArray())
        intent.putExtra(ABOUT, rows.map { it.about }.toTypedArray())
        intent.putExtra(PASSED, rows.map { it.passed }.toBooleanArray())
        intent.putExtra(MEASURED, rows.map { it.measured }.toTypedArray())
        intent.putExtra(LIMITS, rows.map { it.limit }.toTypedArray())
    }

    /** The rows of an intent. */
    fun from(intent: Intent): List<CheckRow> {
        val names = intent.getStringArrayExtra(NAMES).orEmpty()
        val about = intent.getStringArrayExtra(ABOUT).orEmpty()
        val passed = intent.getBooleanArrayExtra(PASSED) ?: BooleanArray(0)
        val measured = intent.getStringArrayExtra(MEASURED).orEmpty()
        val limits = intent.getStringArrayExtra(LIMITS).orEmpty()
        return names.indices.map { CheckRow(names[it], about[it], passed[it], measured[it], limits[it]) }
    }

    private const val NAMES = "names"
    private const val ABOUT = "about"
    private const val PASSED = "passed"
    private const val MEASURED = "measured"
    private const val LIMITS = "limits"
}
