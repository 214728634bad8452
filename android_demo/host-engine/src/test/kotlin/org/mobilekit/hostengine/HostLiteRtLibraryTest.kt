package org.mobilekit.hostengine

import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.mobilekit.core.EngineException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.artifact.Artifacts
import java.io.RandomAccessFile
import kotlin.test.assertContains
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

class HostLiteRtLibraryTest {
    @get:Rule
    val folder = TemporaryFolder()

    private val library = HostLiteRtLibrary()
    private val vectors = ModelVectors.named("bert-sequence-classification-int8")
    private val run = vectors.runs.first()
    private val output = vectors.artifact.manifest.output.name

    @Test
    fun `it tells its version`() {
        assertEquals("2.19.0", library.version)
    }

    @Test
    fun `two threads give what one gives`() {
        val outputs =
            listOf(1, 2).map { threads ->
                library.open(vectors.artifact, threads).use { engine ->
                    vectors.runs.take(10).map { engine.run(it.length, it.inputs).getValue(output).toList() }
                }
            }
        assertEquals(outputs[0], outputs[1])
    }

    @Test
    fun `lengths in turn do not disturb each other`() {
        library.open(vectors.artifact, 1).use { engine ->
            val first = engine.run(run.length, run.inputs).getValue(output)
            val longer = vectors.runs.first { it.length != run.length }
            engine.run(longer.length, longer.inputs)
            assertContentEquals(first, engine.run(run.length, run.inputs).getValue(output))
        }
    }

    @Test
    fun `two models may be open at once`() {
        library.open(vectors.artifact, 1).use { one ->
            library.open(ModelVectors.named("bert-token-classification-int8").artifact, 1).use {
                library.open(vectors.artifact, 1).use { other ->
                    assertContentEquals(
                        one.run(run.length, run.inputs).getValue(output),
                        other.run(run.length, run.inputs).getValue(output),
                    )
                }
            }
        }
    }

    @Test
    fun `a closed model refuses to run and may be closed again`() {
        val engine = library.open(vectors.artifact, 1)
        engine.close()
        engine.close()
        val error = assertFailsWith<EngineException> { engine.run(run.length, run.inputs) }
        assertContains(error.message.orEmpty(), "closed")
    }

    @Test
    fun `a model that is not there is an engine's error`() {
        val artifact = copied()
        artifact.modelFile.delete()
        assertFailsWith<EngineException> { library.open(artifact, 1) }
    }

    @Test
    fun `a file that is no model is an engine's error`() {
        val artifact = copied()
        artifact.modelFile.writeText("no model")
        assertFailsWith<EngineException> { library.open(artifact, 1) }
    }

    @Test
    fun `a file that was cut off is an engine's error`() {
        for (part in listOf(0, 1, 2, 3)) {
            val artifact = copied()
            RandomAccessFile(artifact.modelFile, "rw").use { it.setLength(it.length() * part / 4) }
            assertFailsWith<EngineException>("at $part quarters") { library.open(artifact, 1) }
        }
    }

    @Test
    fun `a signature that the file has not is an engine's error`() {
        val artifact = copied(change = { it.replace("\"len_${run.length}\"", "\"other\"") })
        library.open(artifact, 1).use { engine ->
            val error = assertFailsWith<EngineException> { engine.run(run.length, run.inputs) }
            assertContains(error.message.orEmpty(), "no signature other")
        }
    }

    @Test
    fun `an input that the file has not is an engine's error`() {
        val artifact = copied(ModelVectors.named("bert-question-answering-int8"))
        ModelVectors
            .named("distilbert-question-answering-int8")
            .artifact.modelFile
            .copyTo(artifact.modelFile, true)
        library.open(artifact, 1).use { engine ->
            val inputs = artifact.manifest.inputs.associate { it.name to IntArray(run.length) }
            val error = assertFailsWith<EngineException> { engine.run(run.length, inputs) }
            assertContains(error.message.orEmpty(), "token_type_ids")
        }
    }

    private fun copied(
        source: ModelVectors = vectors,
        change: (String) -> String = { it },
    ): Artifact {
        val copy = folder.newFolder()
        source.artifact.folder.copyRecursively(copy, overwrite = true)
        val manifest = copy.resolve("manifest.json")
        manifest.writeText(change(manifest.readText()))
        return Artifacts.open(copy)
    }
}
