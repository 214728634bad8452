package org.mobilekit.demo.report

import android.annotation.TargetApi
import android.content.Context
import android.os.Build
import android.os.PowerManager

/** How hot the phone says it is. Android tells from 10 on; before, nothing is known. */
internal class Heat(
    private val context: Context,
) {
    /** In a word, as a report has it; null where the phone does not tell. */
    val status: String? get() = level()?.let(WORDS::getOrNull)

    /** Whether the phone is so hot that it slows down, or soon will. */
    val hot: Boolean get() = (level() ?: 0) >= MODERATE

    private fun level(): Int? = if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) levelOfAndroid10() else null

    @TargetApi(Build.VERSION_CODES.Q)
    private fun levelOfAndroid10(): Int? = context.getSystemService(PowerManager::class.java)?.currentThermalStatus

    private companion object {
        /** By number, as `PowerManager.THERMAL_STATUS_...` has them. */
        val WORDS = listOf("none", "light", "moderate", "severe", "critical", "emergency", "shutdown")
        const val MODERATE = 2
    }
}
