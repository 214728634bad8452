package org.mobilekit.core.report

import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.mobilekit.core.EngineException
import org.mobilekit.core.FakeLibrary
import org.mobilekit.core.InputException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.manifestOf
import org.mobilekit.core.measure.BenchmarkResult
import org.mobilekit.core.measure.Contender
import org.mobilekit.core.measure.FakeClock
import org.mobilekit.core.measure.Memory
import org.mobilekit.core.measure.MemoryReader
import org.mobilekit.core.measure.Protocol
import org.mobilekit.core.measure.TextItem
import org.mobilekit.core.measure.Texts
import org.mobilekit.core.measure.benchmarkOf
import org.mobilekit.core.measure.folderOf
import org.mobilekit.core.measure.libraryOf
import java.io.File
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

/** A report from fake engines and a fake clock; tests/android/test_report.py reads the committed one. */
class ReportTest {
    @get:Rule
    val temporary = TemporaryFolder()

    private val device =
        DeviceInfo(
            name = "Imagined Phone",
            system = "Android 15 (API 35)",
            processor = "Imagined SoC",
            cpus = 8,
            memoryBytes = 8_000_000_000,
            cpuFeatures = listOf("asimd", "asimddp"),
            thermalBefore = "none",
            thermalAfter = "light",
            batteryPercent = 80.0,
            charging = false,
        )

    private fun result(): BenchmarkResult {
        val clock = FakeClock()
        val steady = libraryOf(clock, load = 12.5) { _, length -> length / 4.0 }
        val drifting = libraryOf(clock, load = 30.0) { number, length -> length / 8.0 + number % 7 / 10.0 }
        val broken =
            FakeLibrary { throw EngineException("the file is of a newer version;\nupdate the app. " + "x".repeat(400)) }
        val texts = Texts("made-up", listOf(TextItem("x"), TextItem("x \"y\" é😀"), TextItem("x y")))
        var bytes = 1000L
        val memory = MemoryReader { Memory(bytes, bytes / 2).also { bytes += 600 } }
        val contenders =
            listOf("steady" to steady, "drifting" to drifting, "broken" to broken).map { (name, library) ->
                Contender("fake-$name/tflite", folderOf(temporary.root, name), library)
            }
        return benchmarkOf(clock, Protocol(2, texts = texts), memory).run(contenders)
    }

    private fun report(result: BenchmarkResult = result()): Report =
        Report(true, 1_767_323_045_678, "0.1.0", device, mapOf("litert" to "1.2.3", "executorch" to null), result)

    @Test
    fun `the committed report is what the code writes`() {
        val written = report().toJson()
        val committed = javaClass.getResource("/report/synthetic.json")?.readText()
        if (written != committed) {
            val file = File("target/synthetic.json").apply { parentFile.mkdirs() }
            file.writeText(written)
            throw AssertionError(
                "it is another one: if that is meant, copy ${file.absolutePath} to src/test/resources/report",
            )
        }
    }

    @Test
    fun `a report is written beside and renamed, in the place of an old one`() {
        val folder = temporary.newFolder("reports")
        val file = File(folder, "report.json")
        file.writeText("old")
        val report = report()
        report.write(file)
        assertEquals(report.toJson(), file.readText())
        assertEquals(listOf("report.json"), folder.list()?.toList())
    }

    @Test
    fun `a disk that refuses is told`() {
        val error = assertFailsWith<InputException> { report().write(File(temporary.root, "none/report.json")) }
        assertTrue("cannot be written" in error.message.orEmpty())
    }

    @Test
    fun `of what a manifest or a phone says, only what a report takes is in it`() {
        val clock = FakeClock()
        val made = folderOf(temporary.root, "groups")
        val group = mapOf("parameters" to 1L, "bytes" to 7L)
        val groupsOf = { names: List<String> ->
            val manifest = manifestOf("groups" to names.associateWith { group }, "name" to "groups")
            val contender = Contender("x", Artifact(made.folder, manifest), FakeLibrary())
            val many = device.copy(cpuFeatures = List(120) { "f$it" }, batteryPercent = 250.0)
            val result = benchmarkOf(clock, Protocol(2)).run(listOf(contender))
            Report(true, 0, "1", many, emptyMap(), result).toJson()
        }
        for (names in listOf(listOf("a\nb"), listOf("x".repeat(101)), List(51) { "g$it" })) {
            assertTrue("\"groups\": {}" in groupsOf(names))
        }
        val written = groupsOf(List(50) { "g$it" })
        assertTrue("\"g49\": 7" in written && "\"f99\"" in written && "\"f100\"" !in written)
        assertTrue("\"battery_percent\": null" in written)
    }

    @Test
    fun `texts of a device stay within what a report takes`() {
        val odd =
            device.copy(
                name = "a\u0000b" + "x".repeat(297) + "😀",
                processor = "",
                thermalBefore = "",
                machine = "m",
            )
        val result = result()
        val written = Report(true, 0, "", odd, emptyMap(), result).toJson()
        assertTrue("\"name\": \"ab${"x".repeat(297)}\"" in written)
        assertTrue("\"thermal_before\": \"-\"" in written && "\"machine\": \"m\"" in written)
        assertTrue("\"version\": \"-\"" in written && "1970-01-01T00:00:00Z" in written)
    }
}
