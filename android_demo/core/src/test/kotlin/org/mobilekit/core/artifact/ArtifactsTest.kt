package org.mobilekit.core.artifact

import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.mobilekit.core.ArtifactException
import org.mobilekit.core.Vectors
import org.mobilekit.core.json.jsonText
import org.mobilekit.core.manifest.Precision
import org.mobilekit.core.manifestOf
import org.mobilekit.core.measure.folderOf
import org.mobilekit.core.plainManifest
import java.io.File
import java.io.RandomAccessFile
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class ArtifactsTest {
    @get:Rule
    val temporary = TemporaryFolder()

    private val file by lazy { File(temporary.root, "manifest.json") }

    private fun refusal(): String =
        assertFailsWith<ArtifactException> { Artifacts.open(temporary.root) }.message.orEmpty()

    @Test
    fun `a manifest is read as it is written`() {
        file.writeText(jsonText(plainManifest))
        val artifact = Artifacts.open(temporary.root)
        assertEquals("fake-int8" to "tflite", artifact.manifest.name to artifact.manifest.target)
        assertEquals(listOf(8 to "len_8", 16 to "len_16"), artifact.manifest.lengths.map { it.length to it.entry })
        assertEquals(
            listOf(1, null),
            artifact.manifest.inputs
                .first()
                .shape,
        )
        assertEquals(16 to 2, artifact.manifest.maxLength to artifact.manifest.outputSize)
        assertEquals(File(temporary.root, "tokenizer.json"), artifact.tokenizerFile)
    }

    @Test
    fun `a newer schema is told apart from a broken one`() {
        file.writeText(jsonText(plainManifest + mapOf("schema" to 2L, "more" to 1L)))
        assertTrue("newer" in refusal())
        file.writeText(jsonText(plainManifest + mapOf("schema" to 0L)))
        assertTrue("newer" !in refusal())
    }

    @Test
    fun `what is no folder, no file, too large or no text is told`() {
        assertTrue("no manifest.json" in refusal())
        file.mkdir()
        assertTrue("no manifest.json" in refusal())
        file.delete()
        RandomAccessFile(file, "rw").use { it.setLength((16L shl 20) + 1) }
        assertTrue("too many" in refusal())
        for (bytes in listOf(
            byteArrayOf(),
            byteArrayOf(-1),
            "\"\\ud800\"".toByteArray(),
            "[".repeat(99_999).toByteArray(),
        )) {
            file.writeBytes(bytes)
            assertTrue("JSON" in refusal())
        }
        assertFailsWith<ArtifactException> { Artifacts.open(file) }
        assertFailsWith<ArtifactException> { Artifacts.open(File(temporary.root, "none")) }
    }

    @Test
    fun `bytes of anything end as a message`() {
        val good = jsonText(plainManifest).toByteArray()
        val random = java.util.Random(1)
        repeat(300) {
            val bytes = good.copyOf(random.nextInt(good.size) + 1)
            repeat(3) { bytes[random.nextInt(bytes.size)] = random.nextInt(256).toByte() }
            file.writeBytes(bytes)
            try {
                Artifacts.open(temporary.root)
            } catch (error: ArtifactException) {
                assertTrue('\n' !in error.message.orEmpty())
            }
        }
    }

    @Test
    fun `weights decide the precision`() {
        val tensor = Vectors.listOf<Map<String, Any?>>(plainManifest["tensors"]).first()

        fun precision(vararg bits: Pair<String, Long>): Precision =
            manifestOf(
                "tensors" to bits.map { tensor + mapOf("kind" to it.first, "bits" to it.second) },
            ).precision
        assertEquals(Precision.SINGLE, precision("dense" to 32L))
        assertEquals(Precision.HALF, precision("dense" to 16L, "dense" to 32L))
        assertEquals(Precision.QUANTIZED, precision("dense" to 16L, "quantized" to 4L))
        val scale = mapOf("scale" to 0.5, "zero_point" to 0L)
        val static = mapOf("kind" to "quantized", "activations" to mapOf("input" to scale, "output" to scale))
        assertEquals(Precision.STATIC, manifestOf("tensors" to listOf(tensor + static)).precision)
    }

    @Test
    fun `files that are missing or altered are named`() {
        val artifact = folderOf(temporary.root, "a")
        assertEquals(emptyList(), artifact.altered())
        File(artifact.folder, "tokenizer.json").delete()
        File(artifact.folder, "model.tflite").appendText("x")
        assertEquals(listOf("model.tflite", "tokenizer.json"), artifact.altered())
    }

    @Test
    fun `a folder's sha256 is over its lines, sorted by bytes`() {
        val artifact = folderOf(temporary.root, "a")
        val model = File(artifact.folder, "model.tflite")
        model.delete()
        for (name in listOf("b/é", "b/z", "B")) File(model, name).apply { parentFile.mkdirs() }.writeText(name)
        val lines = listOf("B", "b/z", "b/é").joinToString("") { "${sha256(it.toByteArray())}  $it\n" }
        val whole =
            Artifact(artifact.folder, manifestOf("sha256" to sha256(lines.toByteArray()), "files" to plainFiles))
        assertEquals(emptyList(), whole.altered())
    }

    private val plainFiles = mapOf("tokenizer.json" to sha256("{}".toByteArray()))
}
