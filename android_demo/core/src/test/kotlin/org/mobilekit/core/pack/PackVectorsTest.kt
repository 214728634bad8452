package org.mobilekit.core.pack

import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.mobilekit.core.ArtifactException
import org.mobilekit.core.Vectors
import org.mobilekit.core.artifact.hex
import org.mobilekit.core.artifact.sha256
import org.mobilekit.core.json.JsonParser
import java.io.File
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

/** The packs of tests/vectors/pack. */
class PackVectorsTest {
    @get:Rule
    val temporary = TemporaryFolder()

    private val folder = File(Vectors.root, "tests/vectors/pack")
    private val vectors = Vectors.objectOf(JsonParser(File(folder, "vectors.json").readText()).parse())
    private val into by lazy { File(temporary.root, "into") }

    @Test
    fun `good packs give every file byte for byte`() {
        val packs = Vectors.listOf<Map<String, Any?>>(vectors["packs"])
        assertTrue(packs.size >= 20)
        for (about in packs) {
            Unpacker.unpack(File(folder, about["pack"] as String), into)
            val files = Vectors.listOf<Map<String, Any?>>(about["files"])
            assertEquals(files.map { it["name"] }.toSet(), into.names(), "${about["pack"]}")
            for (file in files) {
                val bytes = File(into, file["name"] as String).readBytes()
                assertEquals(file["sha256"], sha256(bytes), "${about["pack"]} ${file["name"]}")
                file["hex"]?.let { assertEquals(it, hex(bytes)) }
            }
            into.deleteRecursively()
        }
    }

    @Test
    fun `every pack that has to be refused is, and leaves nothing`() {
        val refused = Vectors.listOf<Map<String, Any?>>(vectors["refused"])
        assertTrue(refused.size >= 70)
        for (about in refused) {
            val pack = File(folder, about["pack"] as String)
            val error =
                assertFailsWith<ArtifactException>("${about["pack"]}: ${about["about"]}") {
                    Unpacker.unpack(pack, into)
                }
            assertTrue('\n' !in error.message.orEmpty())
            assertEquals(emptyList(), temporary.root.list()?.toList(), "${about["pack"]}")
        }
    }

    @Test
    fun `a newer version is told apart from damage`() {
        val error = assertFailsWith<ArtifactException> { Unpacker.unpack(File(folder, "refused-newer.mkpack"), into) }
        assertTrue("newer" in error.message.orEmpty(), error.message)
    }

    @Test
    fun `every byte that is missing and every bit that is flipped is found`() {
        for (name in listOf("escapes-huffman.mkpack", "planes-4.mkpack", "deflate.mkpack")) {
            val bytes = File(folder, name).readBytes()
            val pack = temporary.newFile()
            for (size in bytes.indices) refuse(pack, bytes.copyOf(size), "$name cut at $size")
            refuse(pack, bytes + 0, "$name and a byte more")
            for (bit in 0 until Byte.SIZE_BITS * bytes.size) {
                val flipped = bytes.copyOf()
                flipped[bit / 8] = (flipped[bit / 8].toInt() xor (1 shl bit % 8)).toByte()
                refuse(pack, flipped, "$name with bit $bit flipped")
            }
            pack.delete()
        }
    }

    private fun refuse(
        pack: File,
        bytes: ByteArray,
        what: String,
    ) {
        pack.writeBytes(bytes)
        assertFailsWith<ArtifactException>(what) { Unpacker.unpack(pack, into) }
        assertEquals(listOf(pack.name), temporary.root.list()?.toList(), what)
    }

    private fun File.names(): Set<String> = walk().filter { it.isFile }.map { it.toRelativeString(this) }.toSet()
}
