package org.mobilekit.core.pack

import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.mobilekit.core.ArtifactException
import org.mobilekit.core.Vectors
import java.io.File
import java.util.concurrent.CancellationException
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class UnpackerTest {
    @get:Rule
    val temporary = TemporaryFolder()

    private val pack = File(Vectors.root, "tests/vectors/pack/folder.mkpack")
    private val into by lazy { File(temporary.root, "into") }

    private fun left(): List<String> =
        temporary.root
            .list()
            ?.toList()
            .orEmpty()

    @Test
    fun `progress reaches all bytes, step by step`() {
        val seen = mutableListOf<Pair<Long, Long>>()
        Unpacker.unpack(pack, into, { done, of -> seen += done to of })
        val total = into.walk().filter { it.isFile }.sumOf { it.length() }
        assertEquals(0L to total, seen.first())
        assertEquals(total to total, seen.last())
        assertEquals(seen.sortedBy { it.first }, seen)
    }

    @Test
    fun `a disk with just enough room takes it`() {
        Unpacker.unpack(pack, into)
        val total = into.walk().filter { it.isFile }.sumOf { it.length() }
        into.deleteRecursively()
        val none = { _: Long, _: Long -> }
        assertFailsWith<ArtifactException> { Unpacker.unpack(pack, into, none, { false }) { total - 1 } }
        assertEquals(emptyList(), left())
        Unpacker.unpack(pack, into, none, { false }) { total }
        assertTrue(into.isDirectory)
    }

    @Test
    fun `cancelled at any segment, nothing is left`() {
        var asked = 0
        Unpacker.unpack(pack, into, cancelled = { false.also { asked++ } })
        into.deleteRecursively()
        assertTrue(asked > 1)
        for (last in 0 until asked) {
            var times = 0
            assertFailsWith<CancellationException> { Unpacker.unpack(pack, into, cancelled = { times++ == last }) }
            assertEquals(emptyList(), left())
        }
    }

    @Test
    fun `too little room on the disk is told before anything is written`() {
        val error = assertFailsWith<ArtifactException> { Unpacker.unpack(pack, into, { _, _ -> }, { false }, { 1L }) }
        assertTrue("1 are free" in error.message.orEmpty(), error.message)
        assertEquals(emptyList(), left())
    }

    @Test
    fun `a folder that is there is not touched`() {
        File(into, "mine").apply { parentFile.mkdirs() }.writeText("mine")
        assertFailsWith<ArtifactException> { Unpacker.unpack(pack, into) }
        assertEquals("mine", File(into, "mine").readText())
        assertEquals(listOf("into"), left())
    }

    @Test
    fun `what a killed app left behind is replaced`() {
        File(temporary.root, ".into.unpacking/old").apply { parentFile.mkdirs() }.writeText("half")
        Unpacker.unpack(pack, into)
        assertEquals(listOf("into"), left())
        assertTrue(!File(into, "old").exists())
    }

    @Test
    fun `a pack that is missing or a folder is told`() {
        assertFailsWith<ArtifactException> { Unpacker.unpack(File(temporary.root, "none.mkpack"), into) }
        assertFailsWith<ArtifactException> { Unpacker.unpack(temporary.root, into) }
    }

    @Test
    fun `no memory becomes a message, and nothing is left`() {
        val error =
            assertFailsWith<ArtifactException> {
                Unpacker.unpack(pack, into, { done, _ -> if (done > 0) throw OutOfMemoryError() })
            }
        assertTrue("memory" in error.message.orEmpty())
        assertEquals(emptyList(), left())
    }

    @Test
    fun `names that a system may take for the same are folded alike`() {
        for ((one, other) in listOf("ẞ" to "SS", "Ω" to "Ω", "é" to "E\u0301", "ſ" to "S", "ς" to "Σ", "ﬁ" to "FI")) {
            assertEquals(folded(one), folded(other), "$one $other")
        }
        assertTrue(folded("ı") != folded("i"))
    }
}
