package org.mobilekit.core.artifact

import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.mobilekit.core.ArtifactException
import org.mobilekit.core.Vectors
import java.io.File
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** Manifests that tests/android/manifest_vectors.py changed: Python and Kotlin take the same ones. */
class ManifestVectorsTest {
    @get:Rule
    val temporary = TemporaryFolder()

    @Test
    fun `manifests are taken and refused as Python takes and refuses them`() {
        for (vectors in Vectors.read("manifests.json")) {
            val bases = Vectors.listOf<String>(vectors["bases"])
            bases.forEach { assertEquals(null, refusal(it)) }
            val cases = Vectors.listOf<List<Any>>(vectors["cases"])
            assertTrue(cases.size >= 200)
            val wrong =
                cases.mapNotNull { (base, at, cut, put, accepted) ->
                    verdict(bases, base, at, cut, put, accepted)
                }
            assertTrue(wrong.isEmpty(), "${wrong.size} of ${cases.size}:\n${wrong.take(8).joinToString("\n")}")
        }
    }

    private fun verdict(
        bases: List<String>,
        base: Any,
        at: Any,
        cut: Any,
        put: Any,
        accepted: Any,
    ): String? {
        val (text, start) = bases[(base as Long).toInt()] to (at as Long).toInt()
        val end = start + (cut as Long).toInt()
        val said = refusal(text.substring(0, start) + put + text.substring(end))
        if (said != null && said.contains('\n')) return "more than a line: $said"
        if ((said == null) == accepted) return null
        val place = text.substring(maxOf(0, start - 40), start)
        return "$place>>>${text.substring(start, end).take(99)}<<< by >>>${put.toString().take(99)}<<<: $said"
    }

    private fun refusal(text: String): String? {
        File(temporary.root, "manifest.json").writeText(text)
        return try {
            Artifacts.open(temporary.root)
            null
        } catch (error: ArtifactException) {
            checkNotNull(error.message)
        }
    }
}
