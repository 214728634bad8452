package org.mobilekit.engines

import org.junit.Test
import org.mobilekit.core.EngineException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.artifact.Artifacts
import org.mobilekit.core.engine.EngineLibrary
import java.io.File
import kotlin.test.assertContains
import kotlin.test.assertFailsWith
import kotlin.test.assertNull

/** Here the engines' native libraries are missing, as on a phone whose processor an app was not built for. */
class WithoutLibrariesTest {
    private val artifact: Artifact by lazy {
        val vectors = checkNotNull(System.getProperty("mobilekit.vectors")) { "needs -Dmobilekit.vectors=FOLDER" }
        Artifacts.open(File(vectors, "models/bert-sequence-classification-int8/artifact"))
    }

    @Test
    fun `LiteRT without its library is a message`() {
        refuses(LiteRtLibrary())
    }

    @Test
    fun `ExecuTorch without its library is a message`() {
        refuses(ExecuTorchLibrary())
    }

    @Test
    fun `without its library LiteRT has no version`() {
        assertNull(LiteRtLibrary().version)
    }

    /** Twice: the second time, Java says it otherwise. */
    private fun refuses(library: EngineLibrary) {
        repeat(2) {
            val error = assertFailsWith<EngineException> { library.open(artifact, 1) }
            assertContains(error.message.orEmpty(), "the engine's library is not in this app")
        }
    }
}
