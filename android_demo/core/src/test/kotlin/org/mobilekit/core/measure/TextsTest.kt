package org.mobilekit.core.measure

import org.junit.Test
import org.mobilekit.core.manifest.Task
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

class TextsTest {
    private val items = listOf(TextItem("a \"b\" \\ \n\t\u0001\u007f é 😀 </x>"), TextItem("q", "c"))

    @Test
    fun `the sha256 is the one that bench writes for the same texts`() {
        // benchmarks.measuring.texts.Texts("t", (("a ...", None), ("q", "c"))).to_dict()
        val wanted = "5fd9739e72c99223c2f091181d7f087348073ce710b5fc58aefcd04e7ead4b1b"
        assertEquals(wanted, Texts("t", items).sha256)
    }

    @Test
    fun `texts are made into what a task reads, as bench makes them`() {
        fun read(
            task: Task,
            mask: String? = null,
        ) = Texts("t", listOf(TextItem("x [M] y"), TextItem("q", "c"))).forTask(task, mask).items

        assertEquals(listOf(TextItem("x [M] y"), TextItem("q", "c")), read(Task.SEQUENCE_CLASSIFICATION))
        assertEquals(listOf(TextItem("x [M] y"), TextItem("q")), read(Task.SENTENCE_EMBEDDING))
        assertEquals(listOf(TextItem("[M] x  y"), TextItem("[M] q")), read(Task.FILL_MASK, "[M]"))
        val asked = listOf(TextItem("What is it about?", "x [M] y"), TextItem("q", "c"))
        assertEquals(asked, read(Task.QUESTION_ANSWERING))
    }

    @Test
    fun `no texts are refused`() {
        assertFailsWith<IllegalArgumentException> { Texts("t", emptyList()) }
    }
}
