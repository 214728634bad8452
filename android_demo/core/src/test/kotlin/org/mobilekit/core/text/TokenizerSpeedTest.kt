package org.mobilekit.core.text

import org.junit.Assume.assumeTrue
import org.junit.Test
import java.io.File
import java.lang.management.ManagementFactory
import kotlin.test.assertTrue

/** Prints how fast the tokenizers are, in megabytes of UTF-8 a second of the thread's own time on the processor. */
class TokenizerSpeedTest {
    @Test
    fun `a megabyte of text takes less than a second, whatever the type`() {
        val folder = System.getProperty(PROPERTY).orEmpty()
        assumeTrue("-D$PROPERTY=FOLDER is not given, so no speed was measured", folder.isNotEmpty())
        for (name in TOKENIZERS) {
            val tokenizer = TokenizerReader.read(File(File(folder, name), "tokenizer.json"))
            for ((kind, text) in TEXTS) {
                val texts = List(MEGABYTE / text.toByteArray().size) { "$text $it" }
                val rates = List(ROUNDS) { rate(tokenizer, texts) }
                println("$name, $kind: %.1f MB/s (best of $ROUNDS), first %.1f".format(rates.max(), rates.first()))
                assertTrue(rates.max() >= 1.0, "$name, $kind: ${rates.max()} MB/s")
            }
        }
    }

    private fun rate(
        tokenizer: Tokenizer,
        texts: List<String>,
    ): Double {
        val bean = ManagementFactory.getThreadMXBean()
        val before = bean.currentThreadCpuTime
        val tokens = texts.sumOf { tokenizer.encode(it).size }
        val seconds = (bean.currentThreadCpuTime - before) / NANOS
        assertTrue(tokens > 0)
        return texts.sumOf { it.toByteArray().size } / MEGABYTE.toDouble() / seconds
    }

    private companion object {
        const val PROPERTY = "mobilekit.vectors"
        const val MEGABYTE = 1_000_000
        const val ROUNDS = 4
        const val NANOS = 1e9
        val TOKENIZERS = listOf("minilm-l6", "e5-small-enpt", "roberta", "albert", "xlm-roberta", "bert-cased")
        val TEXTS =
            mapOf(
                "English" to
                    "The weather was far better than anyone had said it would be, so we walked along the river until " +
                    "the evening; nobody's phone rang, and 12 of the 14 boats had already left for the harbour.",
                "mixed" to
                    "Na\u00EFve caf\u00E9s na \u010Ce\u0161tin\u011B, \u0440\u0443\u0441\u0441\u043A\u0438\u0439 " +
                    "\u0442\u0435\u043A\u0441\u0442, \u65E5\u672C\u8A9E\u306E\u30C6\u30AD\u30B9\u30C8, " +
                    "\uD55C\uAD6D\uC5B4 e\u0301 \uD83D\uDE00\uD83D\uDC4D\uD83C\uDFFD \uFF26\uFF35\uFF2C\uFF2C!",
            )
    }
}
