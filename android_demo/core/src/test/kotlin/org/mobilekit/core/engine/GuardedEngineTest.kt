package org.mobilekit.core.engine

import org.junit.Test
import org.mobilekit.core.EngineException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.manifestOf
import java.io.File
import kotlin.test.assertContains
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertSame

class GuardedEngineTest {
    private val manifest = manifestOf()
    private val length = manifest.lengths.first().length
    private val inputs = manifest.inputs.associate { it.name to IntArray(length) { i -> i } }

    @Test
    fun `it runs the entry of the length, on inputs in the manifest's order`() {
        val engine = engine { LOGITS }
        val outputs = engine.run(length, inputs.entries.reversed().associate { it.key to it.value })
        assertContentEquals(LOGITS.getValue("logits"), outputs.getValue("logits"))
        assertEquals(manifest.lengths.first().entry, engine.entry)
        assertEquals(manifest.inputs.map { it.name }, engine.names)
    }

    @Test
    fun `a length that was not exported is refused`() {
        assertContains(
            failure(engine { LOGITS }, length + 1).message.orEmpty(),
            "length ${length + 1} was not exported",
        )
    }

    @Test
    fun `missing and short inputs are refused`() {
        val engine = engine { LOGITS }
        val name = manifest.inputs.first().name
        assertContains(failure(engine, given = inputs - name).message.orEmpty(), "the input $name is missing")
        val short = inputs + (name to IntArray(length - 1))
        assertContains(failure(engine, given = short).message.orEmpty(), "has ${length - 1} values, not $length")
    }

    @Test
    fun `missing and short outputs are refused`() {
        assertContains(failure(engine { emptyMap() }).message.orEmpty(), "logits has no values, not 2")
        assertContains(
            failure(engine { mapOf("logits" to FloatArray(1)) }).message.orEmpty(),
            "logits has 1 values, not 2",
        )
    }

    @Test
    fun `whatever the library throws is an engine's error with its reason`() {
        val thrown = IllegalArgumentException("\nno such tensor\nat 0x00")
        val error = failure(engine { throw thrown })
        assertContains(error.message.orEmpty(), "it did not run: no such tensor")
        assertSame(thrown, error.cause)
    }

    @Test
    fun `no memory is an engine's error that says what to do`() {
        assertContains(
            failure(engine { throw OutOfMemoryError() }).message.orEmpty(),
            "not enough memory; close other apps",
        )
    }

    @Test
    fun `a library that is not there is an engine's error`() {
        assertContains(failure(engine { throw UnsatisfiedLinkError("x.so") }).message.orEmpty(), "x.so")
        assertContains(failure(engine { throw NoClassDefFoundError("x.Y") }).message.orEmpty(), "x.Y")
    }

    @Test
    fun `an engine's own error passes as it is`() {
        val thrown = EngineException("as it is")
        assertSame(thrown, failure(engine { throw thrown }))
    }

    @Test
    fun `it is closed once, and runs nothing after`() {
        val engine = engine { LOGITS }
        engine.close()
        engine.close()
        assertEquals(1, engine.freed)
        assertContains(failure(engine).message.orEmpty(), "was closed")
        assertEquals(null, engine.entry)
    }

    private fun failure(
        engine: Engine,
        length: Int = this.length,
        given: Map<String, IntArray> = inputs,
    ): EngineException = assertFailsWith<EngineException> { engine.run(length, given) }

    private fun engine(output: () -> Map<String, FloatArray>): Probe = Probe(Artifact(File("folder"), manifest), output)

    private class Probe(
        artifact: Artifact,
        private val output: () -> Map<String, FloatArray>,
    ) : GuardedEngine(artifact) {
        var entry: String? = null
        var names: List<String> = emptyList()
        var freed = 0

        override fun invoke(
            entry: String,
            length: Int,
            inputs: Map<String, IntArray>,
        ): Map<String, FloatArray> {
            this.entry = entry
            names = inputs.keys.toList()
            return output()
        }

        override fun free() {
            freed++
        }
    }

    private companion object {
        val LOGITS = mapOf("logits" to floatArrayOf(0.25f, -0.5f))
    }
}
