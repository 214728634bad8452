package org.mobilekit.demo.benchmark

import org.mobilekit.core.InputException
import org.mobilekit.core.MobilekitException
import org.mobilekit.core.measure.Benchmark
import org.mobilekit.core.measure.BenchmarkResult
import org.mobilekit.core.measure.Contender
import org.mobilekit.core.measure.Progress
import org.mobilekit.core.measure.TextItem
import org.mobilekit.core.measure.Texts
import org.mobilekit.core.report.Report
import org.mobilekit.demo.DemoApplication
import org.mobilekit.demo.R
import org.mobilekit.demo.artifacts.Entry
import org.mobilekit.demo.report.PhoneFacts
import org.mobilekit.demo.report.processMemory

/** What a benchmark gave. [unusable]: artifacts that could not be measured, by name, and why. */
class Finished(
    val result: BenchmarkResult,
    val unusable: Map<String, String>,
    val report: Report,
)

/** Measures artifacts and reports, for the screen and for adb alike; blocks its thread. */
class BenchmarkJob(
    private val demo: DemoApplication,
) {
    private val phone = PhoneFacts(demo)

    /**
     * Make [entries] ready, measure them in turn, and report.
     *
     * Throws [InputException] where none can be measured, and [java.util.concurrent.CancellationException] where it was
     * cancelled.
     */
    fun run(
        entries: List<Entry>,
        threads: Int,
        progress: (Progress) -> Unit,
        cancelled: () -> Boolean,
    ): Finished {
        val unusable = LinkedHashMap<String, String>()
        val contenders = entries.mapNotNull { contender(it, unusable, progress, cancelled) }
        if (contenders.isEmpty()) {
            throw InputException(unusable.values.firstOrNull() ?: demo.getString(R.string.nothing_to_measure))
        }
        val hotBefore = phone.thermal()
        val benchmark =
            Benchmark(demo.protocol(threads).copy(texts = texts()), demo.models::tokenizer, memory = processMemory)
        val result = benchmark.run(contenders, progress, cancelled)
        keepChecks(result)
        val report =
            Report(
                synthetic = demo.synthetic,
                madeAt = System.currentTimeMillis(),
                toolVersion = version(),
                device = phone.device(hotBefore),
                versions = contenders.associate { it.library.name to it.library.version },
                result = result,
            )
        return Finished(result, unusable, report)
    }

    private fun contender(
        entry: Entry,
        unusable: MutableMap<String, String>,
        progress: (Progress) -> Unit,
        cancelled: () -> Boolean,
    ): Contender? {
        progress(Progress(demo.getString(R.string.preparing, entry.name), 0.0))
        return try {
            val artifact = demo.store.prepare(entry, cancelled = cancelled)
            Contender(entry.name, artifact, demo.models.library(artifact))
        } catch (error: MobilekitException) {
            unusable[entry.name] = error.message.orEmpty()
            null
        }
    }

    private fun keepChecks(result: BenchmarkResult) {
        for (measured in result.measured) {
            measured.selfCheck?.let { demo.selfChecks[measured.contender.artifact.manifest] = it }
        }
    }

    /** The same texts that `bench` takes, so that hosts and phones can be compared. */
    private fun texts(): Texts {
        val lines =
            demo.resources
                .openRawResource(R.raw.texts)
                .bufferedReader()
                .readLines()
        return Texts("built-in", lines.filter { it.isNotEmpty() }.map { TextItem(it) })
    }

    private fun version(): String = demo.packageManager.getPackageInfo(demo.packageName, 0).versionName ?: "0"
}
