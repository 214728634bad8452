package org.mobilekit.core.measure

import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.mobilekit.core.EngineException
import org.mobilekit.core.FakeEngine
import org.mobilekit.core.FakeLibrary
import org.mobilekit.core.InputException
import org.mobilekit.core.engine.Engine
import java.io.File
import java.util.concurrent.CancellationException
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertNotNull
import kotlin.test.assertNull
import kotlin.test.assertTrue

class BenchmarkTest {
    @get:Rule
    val temporary = TemporaryFolder()

    private val clock = FakeClock()
    private val texts = Texts("made-up", listOf(TextItem("x"), TextItem("x y")))
    private val protocol = Protocol(2, leastRuns = 20, leastSeconds = 0.1, burstSeconds = 0.01, texts = texts)

    private fun contender(
        name: String,
        library: FakeLibrary,
    ): Contender = Contender(name, folderOf(temporary.root, name), library)

    @Test
    fun `runs, loads and texts are timed by the clock, exactly`() {
        val library = libraryOf(clock, load = 7.0) { _, length -> length / 4.0 }
        val found = benchmarkOf(clock, protocol).run(listOf(contender("a", library))).measured.single()
        assertNull(found.error)
        assertEquals(listOf(7.0, 7.0, 7.0), found.loadMs)
        // Bursts of 10 ms: five runs of 2 ms each, three of 4 ms; ten rounds at least.
        assertEquals(mapOf(8 to 50, 16 to 30), found.lengths.mapValues { it.value.runs })
        assertEquals(mapOf(8 to 2.0, 16 to 4.0), found.lengths.mapValues { it.value.middle80MeanMs })
        // x goes through 8, x y through 16.
        assertEquals(Statistics(3.0, 3.0, 3.0, 0.0, 17), found.textRun?.copy(spread = 0.0))
        assertEquals(17, found.textPipeline?.runs)
        assertTrue(
            found.selfCheck
                ?.rows
                .orEmpty()
                .isNotEmpty(),
        )
    }

    @Test
    fun `rounds go there and back, with one run before each burst that does not count`() {
        val log = mutableListOf<String>()
        val slow = libraryOf(clock, log = log) { _, _ -> 20.0 }
        val contenders = listOf("a", "b").map { contender(it, slow) }
        benchmarkOf(clock, protocol.copy(texts = null, leastRuns = 1, leastSeconds = 0.0)).run(contenders)
        val last = log.takeLast(40)
        assertTrue(last.all { it.endsWith(" 16") })
        assertEquals("aabbbbaaaabbbbaa", last.take(16).joinToString("") { it.take(1) })
    }

    @Test
    fun `a round is as many as it takes to the least runs and the least time`() {
        val library = libraryOf(clock) { _, _ -> 20.0 }
        val runs = { least: Int, seconds: Double ->
            val asked = protocol.copy(texts = null, leastRuns = least, leastSeconds = seconds)
            val found = benchmarkOf(clock, asked).run(listOf(contender("a", library))).measured.single()
            found.lengths.getValue(8).runs
        }
        assertEquals(10, runs(1, 0.0))
        assertEquals(33, runs(33, 0.0))
        assertEquals(50, runs(1, 1.0))
    }

    @Test
    fun `ratios are to the first contender, at each work that both did`() {
        val contenders =
            listOf(
                contender("a", libraryOf(clock) { _, _ -> 2.0 }),
                contender("b", libraryOf(clock) { _, _ -> 3.0 }),
            )
        val ratios = benchmarkOf(clock, protocol).run(contenders).ratios
        assertEquals(listOf("8", "16", "rows", "texts"), ratios.map { it.work })
        assertTrue(ratios.all { it.row == "b" && it.base == "a" })
        ratios.forEach { assertEquals(1.5, it.median, 1e-9) }
    }

    @Test
    fun `what fails is a row with its error, wherever it fails, and the others go on`() {
        val fine = libraryOf(clock) { _, _ -> 2.0 }
        val broken = FakeLibrary { throw EngineException("cannot load") }
        val odd = FakeLibrary { FakeEngine { _, _ -> throw IllegalStateException("odd") } }
        val full = FakeLibrary { throw OutOfMemoryError("heap") }
        var left = 120
        val late = libraryOf(clock) { _, _ -> if (left-- > 0) 2.0 else throw EngineException("gave up") }
        val altered = contender("altered", fine).also { File(it.artifact.folder, "model.tflite").appendText("x") }
        val missing = contender("missing", fine).also { File(it.artifact.folder, "tokenizer.json").delete() }
        val contenders =
            listOf(contender("broken", broken), contender("odd", odd), contender("full", full), altered, missing) +
                listOf(contender("late", late), contender("fine", fine))
        val found = benchmarkOf(clock, protocol).run(contenders)
        assertEquals(contenders.map { it.name }, found.measured.map { it.contender.name })
        val errors = found.measured.map { it.error.orEmpty() }
        listOf(
            "cannot load",
            "odd",
            "no memory",
            "altered",
            "tokenizer.json: missing",
            "gave up",
            "",
        ).zip(errors) { part, error ->
            assertTrue(part in error && (part != "" || error == ""), "$part: $error")
        }
        assertEquals(
            setOf(8, 16),
            found.measured
                .last()
                .lengths.keys,
        )
        assertTrue(found.measured.dropLast(1).all { it.lengths.isEmpty() && it.textRun == null })
        assertEquals(emptyList(), found.ratios)
    }

    @Test
    fun `every engine is closed, whatever happens`() {
        val library = libraryOf(clock) { _, _ -> 2.0 }
        val contenders = listOf("a", "b").map { contender(it, library) }
        benchmarkOf(clock, protocol).run(contenders)
        var asked = 0
        benchmarkOf(clock, protocol).run(contenders, cancelled = { false.also { asked++ } })
        for (last in listOf(0, 1, 5, asked / 3, asked / 2, asked - 1)) {
            var times = 0
            assertFailsWith<CancellationException> {
                benchmarkOf(clock, protocol).run(contenders, cancelled = { times++ == last })
            }
        }
        assertTrue(library.opened.size > 10 && library.opened.all { (it as FakeEngine).closed > 0 })
    }

    @Test
    fun `an engine that cannot be closed neither stops the others nor keeps them open`() {
        val stuck = { broken: Boolean ->
            FakeLibrary { artifact ->
                val engine = libraryOf(clock) { _, _ -> if (broken) throw EngineException("broken") else 2.0 }
                object : Engine by engine.open(artifact, 1) {
                    override fun close(): Unit = throw EngineException("cannot be closed")
                }
            }
        }
        val fine = libraryOf(clock) { _, _ -> 2.0 }
        val contenders =
            listOf(contender("broken", stuck(true)), contender("stuck", stuck(false)), contender("fine", fine))
        val found = benchmarkOf(clock, protocol.copy(loadRepeats = 1)).run(contenders).measured
        assertEquals(listOf("broken", null, null), found.map { it.error })
        assertTrue(fine.opened.all { (it as FakeEngine).closed > 0 })
    }

    @Test
    fun `memory is over the idle engine after a run at each length`() {
        val library = libraryOf(clock) { _, _ -> 2.0 }
        var readings = 0
        val memory = MemoryReader { if (readings++ == 0) Memory(100, 50) else Memory(130, 90) }
        val found = benchmarkOf(clock, protocol, memory).run(listOf(contender("a", library))).measured.single()
        assertEquals(MemoryUse(150, 30, 40), found.memory)
        assertNull(
            benchmarkOf(clock, protocol)
                .run(listOf(contender("a", library)))
                .measured
                .single()
                .memory,
        )
    }

    @Test
    fun `progress never goes back and ends at the whole`() {
        val seen = mutableListOf<Progress>()
        val contenders = listOf("a", "b").map { contender(it, libraryOf(clock) { _, _ -> 2.0 }) }
        benchmarkOf(clock, protocol).run(contenders, { seen += it })
        assertEquals(seen.map { it.share }.sorted(), seen.map { it.share })
        assertEquals(0.0, seen.first().share)
        assertEquals(1.0, seen.last().share, 1e-9)
        assertEquals("loading a", seen.first().doing)
        assertNotNull(seen.find { it.doing == "running texts the whole way, 2 in turn" })
    }

    @Test
    fun `names that no report takes are told at once`() {
        val library = libraryOf(clock) { _, _ -> 2.0 }
        val one = contender("a", library)
        for (names in listOf(listOf("a", "a"), listOf(""), listOf("a\nb"), listOf("x".repeat(201)))) {
            val contenders = names.map { Contender(it, one.artifact, library) }
            assertFailsWith<InputException> { benchmarkOf(clock, protocol).run(contenders) }
        }
        assertEquals(0, library.opened.size)
    }
}
