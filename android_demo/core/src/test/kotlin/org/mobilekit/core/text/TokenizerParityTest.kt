package org.mobilekit.core.text

import org.junit.Assume.assumeTrue
import org.junit.Test
import java.io.File
import kotlin.test.assertEquals
import kotlin.test.assertTrue

class TokenizerParityTest {
    @Test
    fun `committed vectors of the reference library are equal in ids, types, offsets, words, sequences and text`() {
        assertEqual(Vectors(File(checkNotNull(javaClass.getResource("/tokenizers")).toURI())))
    }

    @Test
    fun `all vectors are equal in the folder that the property names`() {
        val folder = System.getProperty(PROPERTY).orEmpty()
        assumeTrue("-D$PROPERTY=FOLDER is not given, so only the committed vectors were compared", folder.isNotEmpty())
        val vectors = Vectors(File(folder))
        for (name in REQUIRED) {
            assertTrue((vectors.counts[name] ?: 0) >= LEAST, "$folder: fewer than $LEAST vectors of $name")
        }
        assertEqual(vectors)
    }

    private fun assertEqual(vectors: Vectors) {
        assertTrue(vectors.counts.isNotEmpty())
        val differences = vectors.counts.keys.flatMap { vectors.differences(it) }
        val shown = differences.take(SHOWN).joinToString("\n\n") { it.take(LONGEST_SHOWN) }
        assertEquals(0, differences.size, shown)
    }

    private companion object {
        const val PROPERTY = "mobilekit.vectors"
        const val LEAST = 500
        const val SHOWN = 12
        const val LONGEST_SHOWN = 2500
        val REQUIRED = listOf("minilm-l6", "e5-small-enpt", "roberta", "albert", "bert-cased")
    }
}
