package org.mobilekit.demo.report

import android.annotation.TargetApi
import android.content.Context
import android.os.Build
import android.os.PowerManager

/** How hot the phone says it is. Android tells from 10 on; before, nothing is known. */
internal class Heat(
    private val context: Context,
) {
    private var listener: Any? = null

    /** In a word, as a report has it; null where the phone does not tell. */
    val status: String? get() = level()?.let(WORDS::getOrNull)

    /** Whether the phone is so hot that it slows down, or soon will. */
    val hot: Boolean get() = (level() ?: 0) >= MODERATE

    /** Call [changed] on the main thread whenever the phone says how hot it is, until [unwatch]. */
    fun watch(changed: () -> Unit) {
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) listener = listen(changed)
    }

    /** Call nobody any more. */
    fun unwatch() {
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) stopListening()
    }

    private fun level(): Int? = if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) currentLevel() else null

    @TargetApi(Build.VERSION_CODES.Q)
    private fun currentLevel(): Int? = power()?.currentThermalStatus

    @TargetApi(Build.VERSION_CODES.Q)
    private fun listen(changed: () -> Unit): PowerManager.OnThermalStatusChangedListener {
        val each = PowerManager.OnThermalStatusChangedListener { changed() }
        power()?.addThermalStatusListener(context.mainExecutor, each)
        return each
    }

    @TargetApi(Build.VERSION_CODES.Q)
    private fun stopListening() {
        (listener as? PowerManager.OnThermalStatusChangedListener)?.let { power()?.removeThermalStatusListener(it) }
        listener = null
    }

    private fun power(): PowerManager? = context.getSystemService(PowerManager::class.java)

    private companion object {
        /** By number, as `PowerManager.THERMAL_STATUS_...` has them. */
        val WORDS = listOf("none", "light", "moderate", "severe", "critical", "emergency", "shutdown")
        const val MODERATE = 2
    }
}
