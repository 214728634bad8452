package org.mobilekit.core.report

import org.mobilekit.core.measure.BenchmarkResult
import java.io.File

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
    /** As JSON text. */
    fun toJson(): String = TODO()

    /** Write it beside [file] and rename; throws [org.mobilekit.core.InputException] where the disk refuses. */
    fun write(file: File): Unit = TODO("$file")
}
