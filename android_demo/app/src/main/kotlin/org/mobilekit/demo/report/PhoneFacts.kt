package org.mobilekit.demo.report

import android.annotation.TargetApi
import android.app.ActivityManager
import android.content.Context
import android.content.Intent
import android.content.IntentFilter
import android.os.BatteryManager
import android.os.Build
import org.mobilekit.core.measure.Memory
import org.mobilekit.core.measure.MemoryReader
import org.mobilekit.core.report.DeviceInfo
import java.io.File
import java.io.IOException

/** What a report says of the phone. */
internal class PhoneFacts(
    private val context: Context,
    private val heat: Heat = Heat(context),
) {
    /** How hot it is, in a word; null where it does not tell. */
    fun thermal(): String? = heat.status

    /** The phone as it is now. [thermalBefore]: how hot it was before measuring. */
    fun device(thermalBefore: String?): DeviceInfo {
        val battery = context.registerReceiver(null, IntentFilter(Intent.ACTION_BATTERY_CHANGED))
        val cpuinfo = lines(CPUINFO)
        return DeviceInfo(
            name = name(),
            system = "Android ${Build.VERSION.RELEASE} (API ${Build.VERSION.SDK_INT})",
            processor = soc() ?: value(cpuinfo, "Hardware") ?: Build.HARDWARE,
            cpus = Runtime.getRuntime().availableProcessors(),
            memoryBytes = memoryBytes(),
            machine = Build.SUPPORTED_ABIS.firstOrNull(),
            cpuFeatures = value(cpuinfo, "Features")?.split(' ')?.filter { it.isNotEmpty() }.orEmpty(),
            governor = lines(GOVERNOR).firstOrNull()?.trim(),
            thermalBefore = thermalBefore,
            thermalAfter = heat.status,
            batteryPercent = battery?.let(::percent),
            charging = battery?.let { it.getIntExtra(BatteryManager.EXTRA_PLUGGED, 0) != 0 },
        )
    }

    private fun name(): String {
        val maker = Build.MANUFACTURER.replaceFirstChar { it.uppercase() }
        return if (Build.MODEL.startsWith(maker, ignoreCase = true)) Build.MODEL else "$maker ${Build.MODEL}"
    }

    private fun soc(): String? = if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.S) socOfAndroid12() else null

    @TargetApi(Build.VERSION_CODES.S)
    private fun socOfAndroid12(): String? =
        listOf(Build.SOC_MANUFACTURER, Build.SOC_MODEL)
            .filter { it != Build.UNKNOWN }
            .joinToString(" ")
            .ifEmpty { null }

    private fun memoryBytes(): Long {
        val memory = ActivityManager.MemoryInfo()
        context.getSystemService(ActivityManager::class.java)?.getMemoryInfo(memory)
        return memory.totalMem
    }

    private fun percent(battery: Intent): Double? {
        val level = battery.getIntExtra(BatteryManager.EXTRA_LEVEL, -1)
        val scale = battery.getIntExtra(BatteryManager.EXTRA_SCALE, -1)
        return if (level < 0 || scale <= 0) null else WHOLE * level / scale
    }

    private companion object {
        const val CPUINFO = "/proc/cpuinfo"
        const val GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
        const val WHOLE = 100.0
    }
}

/** This process's memory, as Linux tells it. */
internal val processMemory: MemoryReader =
    MemoryReader {
        val status = lines("/proc/self/status")
        val anonymous = value(status, "RssAnon")?.let(::kibibytes)
        val file = value(status, "RssFile")?.let(::kibibytes)
        if (anonymous == null || file == null) null else Memory(anonymous, file)
    }

private const val KIBI = 1024L

private fun kibibytes(value: String): Long? = value.substringBefore(' ').toLongOrNull()?.times(KIBI)

/** Not every phone lets every app read these. */
private fun lines(file: String): List<String> =
    try {
        File(file).readLines()
    } catch (_: IOException) {
        emptyList()
    }

private fun value(
    lines: List<String>,
    name: String,
): String? = lines.firstOrNull { it.substringBefore(':').trim() == name }?.substringAfter(':')?.trim()
