package org.mobilekit.core.report

import org.mobilekit.core.InputException
import org.mobilekit.core.json.jsonText
import org.mobilekit.core.measure.BenchmarkResult
import org.mobilekit.core.measure.Protocol
import java.io.File
import java.io.IOException
import java.text.SimpleDateFormat
import java.util.Date
import java.util.Locale
import java.util.TimeZone

/**
 * A report in the schema that hosts and phones share (docs/benchmarking.md).
 *
 * [synthetic]: whether a test made it, and nothing in it was measured on the device that it names. [madeAt]: UTC
 * milliseconds since 1970. [toolVersion]: of the app. [versions]: by package, null for what does not tell.
 */
class Report(
    val synthetic: Boolean,
    val madeAt: Long,
    val toolVersion: String,
    val device: DeviceInfo,
    val versions: Map<String, String?>,
    val result: BenchmarkResult,
) {
    /** As JSON text, the same for the same report. */
    fun toJson(): String =
        jsonText(
            mapOf(
                "schema" to 1,
                "kind" to "android",
                "synthetic" to synthetic,
                "made_at" to date(),
                "tool" to mapOf("name" to "mobilekit Android demo", "version" to name(toolVersion)),
                "device" to deviceOf(device),
                "versions" to versions.mapValues { it.value?.let(::name) },
                "protocol" to protocolOf(result.protocol),
                "rows" to result.measured.map(::rowOf),
                "ratios" to result.ratios.map(::ratioOf),
            ),
        )

    /** Write it beside [file] and rename, in its place; throws [InputException] where the disk refuses. */
    fun write(file: File) {
        val beside = File(file.absoluteFile.parentFile, ".${file.name}.writing")
        try {
            beside.writeText(toJson())
            if (!beside.renameTo(file)) throw IOException("it cannot be renamed to its place")
        } catch (error: IOException) {
            throw InputException(
                "$file: cannot be written (${error.message}); make room, or choose another folder.",
                error,
            )
        } finally {
            beside.delete()
        }
    }

    private fun date(): String =
        SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss'Z'", Locale.ROOT)
            .apply { timeZone = TimeZone.getTimeZone("UTC") }
            .format(Date(madeAt))

    private fun protocolOf(protocol: Protocol): Map<String, Any?> =
        mapOf(
            "threads" to protocol.threads,
            "load_processes" to protocol.loadRepeats,
            "least_runs" to protocol.leastRuns,
            "least_seconds" to protocol.leastSeconds,
            "in_turn" to true,
            "texts" to
                protocol.texts?.let { mapOf("name" to name(it.name), "sha256" to it.sha256, "count" to it.items.size) },
        )

    private fun deviceOf(device: DeviceInfo): Map<String, Any?> =
        mapOf(
            "name" to text(device.name),
            "system" to text(device.system),
            "processor" to text(device.processor),
            "cpus" to device.cpus,
            "memory_bytes" to device.memoryBytes,
            "cpu_features" to device.cpuFeatures.take(MOST_FEATURES).map(::name),
            "governor" to device.governor?.let(::name),
            "thermal_before" to device.thermalBefore?.let(::name),
            "thermal_after" to device.thermalAfter?.let(::name),
            "battery_percent" to device.batteryPercent?.takeIf { it in 0.0..FULL },
            "charging" to device.charging,
        ) + (device.machine?.let { mapOf("machine" to text(it)) } ?: emptyMap())

    private companion object {
        const val MOST_FEATURES = 100
        const val FULL = 100.0
    }
}
