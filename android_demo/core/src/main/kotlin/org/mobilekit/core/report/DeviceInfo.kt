package org.mobilekit.core.report

/**
 * The device of a report (docs/benchmarking.md). What is null is not known.
 *
 * [name]: maker and model. [system]: `Android 15 (API 35)`. [processor]: the SoC. [cpuFeatures]: as `/proc/cpuinfo`
 * names them. [thermalBefore], [thermalAfter]: thermal status before and after, in words. [batteryPercent]: 0 to 100.
 */
data class DeviceInfo(
    val name: String,
    val system: String,
    val processor: String,
    val cpus: Int,
    val memoryBytes: Long,
    val machine: String? = null,
    val cpuFeatures: List<String> = emptyList(),
    val governor: String? = null,
    val thermalBefore: String? = null,
    val thermalAfter: String? = null,
    val batteryPercent: Double? = null,
    val charging: Boolean? = null,
)
