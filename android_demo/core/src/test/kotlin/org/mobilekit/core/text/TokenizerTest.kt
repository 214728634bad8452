package org.mobilekit.core.text

import org.junit.Test
import org.mobilekit.core.InputException
import kotlin.test.assertContains
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertNull
import kotlin.test.assertTrue

class TokenizerTest {
    @Test
    fun `offsets cut the token out of the text, also behind characters of two units`() {
        val text = "\uD835\uDD4F the caf\u00E9"
        val made = Samples.tokenizer("small-wordpiece").encode(text)
        val words = made.starts.indices.map { text.substring(made.starts[it], made.ends[it]) }
        assertEquals(listOf("", "\uD835\uDD4F", "the", "caf\u00E9", ""), words)
        assertContentEquals(intArrayOf(-1, 0, 1, 2, -1), made.words)
        assertContentEquals(intArrayOf(-1, 0, 0, 0, -1), made.sequences)
    }

    @Test
    fun `half a character is refused by its number`() {
        val tokenizer = Samples.tokenizer("small-unigram")
        for (text in listOf("\uD83D\uDE00ab\uD83D", "\uD83D\uDE00ab\uDE00c")) {
            val error = assertFailsWith<InputException> { tokenizer.encode("fine", text) }
            assertContains(error.message.orEmpty(), "character 3 ")
        }
    }

    @Test
    fun `a limit that leaves no room says which text is too long`() {
        val tokenizer = Samples.tokenizer("small-wordpiece")
        val cases =
            mapOf(
                Truncation.LONGEST_FIRST to (2 to "3 special tokens"),
                Truncation.ONLY_FIRST to (5 to "the second text takes 5 of 5 ids"),
                Truncation.ONLY_SECOND to (5 to "the first text takes 5 of 5 ids"),
            )
        for ((truncation, expected) in cases) {
            val (limit, message) = expected
            val error = assertFailsWith<InputException> { tokenizer.encode("the the", "in in", limit, truncation) }
            assertContains(error.message.orEmpty(), message)
        }
        assertFailsWith<InputException> { tokenizer.encode("the the", null, 2, Truncation.ONLY_SECOND) }
    }

    @Test
    fun `only what is cut is called truncated`() {
        val tokenizer = Samples.tokenizer("small-wordpiece")
        assertFalse(tokenizer.encode("the text", limit = 4).truncated)
        val cut = tokenizer.encode("the text in", limit = 4)
        assertTrue(cut.truncated)
        assertEquals(4, cut.size)
    }

    @Test
    fun `the mask token is found among special tokens only`() {
        val bert = Samples.tokenizer("small-wordpiece")
        assertEquals("[MASK]", bert.maskToken)
        assertEquals(4, bert.maskId)
        assertEquals("<mask>", Samples.tokenizer("small-unigram").maskToken)
        val without = Samples.tokenizer("small-split")
        assertNull(without.maskToken)
        assertNull(without.maskId)
    }

    @Test
    fun `tokens are as the vocabulary writes them, and ids outside of it are refused`() {
        val tokenizer = Samples.tokenizer("small-unigram")
        val ids = tokenizer.encode("the word").ids
        assertEquals(listOf("<s>", "\u2581the", "\u2581", "word", "</s>"), ids.map(tokenizer::token))
        assertEquals("the word", tokenizer.decode(ids))
        for (id in listOf(-1, 10_000, Int.MAX_VALUE)) {
            assertNull(tokenizer.token(id))
            val error = assertFailsWith<InputException> { tokenizer.decode(intArrayOf(id)) }
            assertContains(error.message.orEmpty(), "$id")
        }
    }

    @Test
    fun `threads may use one tokenizer at once`() {
        for (name in Samples.names) {
            val tokenizer = Samples.tokenizer(name)
            val texts = List(200) { "the caf\u00E9 ${it % 7} words $it " + "abc".repeat(it % 50) }
            val expected = texts.map { tokenizer.encode(it).ids.toList() }
            val got = arrayOfNulls<List<Int>>(texts.size)
            texts.indices
                .toList()
                .parallelStream()
                .forEach { got[it] = tokenizer.encode(texts[it]).ids.toList() }
            assertEquals<List<Any?>>(expected, got.toList())
        }
    }
}
