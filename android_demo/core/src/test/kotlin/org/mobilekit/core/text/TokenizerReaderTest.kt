package org.mobilekit.core.text

import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder
import org.mobilekit.core.ArtifactException
import org.mobilekit.core.MobilekitException
import java.io.File
import java.io.RandomAccessFile
import java.lang.management.ManagementFactory
import java.util.Base64
import java.util.Random
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class TokenizerReaderTest {
    @get:Rule
    val folder = TemporaryFolder()

    private fun assertRefused(
        json: String,
        message: String,
    ) {
        val error = assertFailsWith<ArtifactException>(message) { TokenizerReader.read(json, "tokenizer.json") }
        assertContains(error.message.orEmpty(), message)
        assertTrue(error.message.orEmpty().startsWith("tokenizer.json: "), error.message)
    }

    /** [name]'s file, changed once; fails where there is nothing to change. */
    private fun changed(
        name: String,
        from: String,
        to: String,
    ): String = Samples.json(name).let { json -> json.replaceFirst(from, to).also { assertTrue(it != json, from) } }

    @Test
    fun `what is not supported is named`() {
        val wordPiece = "small-wordpiece"
        assertRefused(changed(wordPiece, "\"BertNormalizer\"", "\"Nmt\""), "normalizer 'Nmt' is not supported")
        assertRefused(
            changed(wordPiece, "\"BertPreTokenizer\"", "\"Digits\""),
            "pre-tokenizer 'Digits' is not supported",
        )
        assertRefused(changed(wordPiece, "\"BertProcessing\"", "\"Other\""), "post-processor 'Other' is not supported")
        assertRefused(changed(wordPiece, "\"WordPiece\",\"prefix\"", "\"CTC\",\"prefix\""), "decoder 'CTC'")
        assertRefused(changed(wordPiece, "\"type\":\"WordPiece\",\"unk", "\"type\":\"WordLevel\",\"unk"), "'WordLevel'")
        assertRefused(changed("small-bytepairs", "\"dropout\":null", "\"dropout\":0.1"), "model 'BPE': dropout")
        assertRefused(changed("small-bytepairs", "\"byte_fallback\":false", "\"byte_fallback\":true"), "byte_fallback")
        assertRefused(changed("small-unigram", " {2,}", " (?>a)"), "normalizer 'Replace': regular expression ' (?>a)'")
        assertRefused(changed("small-unigram", "\"version\":\"1.0\"", "\"version\":\"2.0\""), "version is 2.0")
    }

    @Test
    fun `damaged parts are refused by their name`() {
        val wordPiece = "small-wordpiece"
        assertRefused(changed(wordPiece, "\"[PAD]\":0", "\"[PAD]\":-1"), "-1 is no id")
        assertRefused(changed(wordPiece, "\"[PAD]\":0", "\"[PAD]\":99999999999"), "99999999999 is no id")
        assertRefused(changed(wordPiece, "\"[PAD]\":0", "\"[PAD]\":1"), "two tokens have the id 1")
        assertRefused(changed(wordPiece, "\"[PAD]\":0", "\"[UNK]\":0"), "'[UNK]' is there twice")
        assertRefused(changed(wordPiece, "\"unk_token\":\"[UNK]\"", "\"unk_token\":\"?\""), "unk_token is '?'")
        assertRefused(
            changed(wordPiece, "\"lowercase\":true", "\"lowercase\":1"),
            "lowercase is neither true nor false",
        )
        assertRefused(changed(wordPiece, "\"sep\":\\[\"\\[SEP\\]\",3\\]".toRegex(), "\"sep\":[]"), "sep is not a token")
        assertRefused(changed("small-unigram", "\"unk_id\":3", "\"unk_id\":3000"), "unk_id is 3000")
        assertRefused(changed("small-unigram", "-5.0", "1e999"), "1e999 is no score")
        assertRefused(changed("small-unigram", "-5.0", "NaN"), "a number is missing")
        assertRefused(changed("small-unigram", "\"id\":\"A\"", "\"id\":\"B\""), "single has not the text A once")
        assertRefused(changed("small-bytepairs", "\\[\"t\",\"h\"\\]".toRegex(), "[\"t\",\"\"]"), "merge 0")
        assertRefused("{}", "it has no model")
        assertRefused("[]", "'{' is missing")
        assertRefused("[".repeat(100_000), "'{' is missing")
        assertRefused("{\"a\":${"[".repeat(100_000)}", "levels")
    }

    private fun changed(
        name: String,
        from: Regex,
        to: String,
    ): String = Samples.json(name).let { json -> json.replaceFirst(from, to).also { assertTrue(it != json, "$from") } }

    @Test
    fun `merges are read as pairs and as texts`() {
        val json = Samples.json("small-bytepairs")
        val asTexts = json.replace("\\[\"([^\"]+)\",\"([^\"]+)\"\\]".toRegex(), "\"$1 $2\"")
        val sep = asTexts.replace("\"</s> 2\"", "[\"</s>\",2]")
        assertTrue(sep != json)
        val text = "the words' abc's"
        val expected =
            Samples
                .tokenizer("small-bytepairs")
                .encode(text)
                .ids
                .toList()
        assertEquals(
            expected,
            TokenizerReader
                .read(sep, "tokenizer.json")
                .encode(text)
                .ids
                .toList(),
        )
    }

    @Test
    fun `any damaged file is an ArtifactException or a tokenizer that works`() {
        val random = Random(8)
        for (name in Samples.names) {
            val original = Samples.file(name).readBytes()
            val file = File(folder.root, "tokenizer.json")
            repeat(MUTATIONS) {
                file.writeBytes(mutated(original, random))
                try {
                    val tokenizer = TokenizerReader.read(file)
                    for (text in TEXTS) tokenizer.decode(tokenizer.encode(text, text, limit = 20).ids)
                } catch (error: MobilekitException) {
                    assertTrue(error.message.orEmpty().isNotEmpty())
                }
            }
        }
    }

    private fun mutated(
        original: ByteArray,
        random: Random,
    ): ByteArray {
        val at = random.nextInt(original.size)
        val before = original.copyOfRange(0, at)
        val word = WORDS[random.nextInt(WORDS.size)]
        return when (random.nextInt(5)) {
            0 -> original.copyOf().also { it[at] = random.nextInt().toByte() }
            1 -> original.copyOf(at)
            2 -> before + original.copyOfRange(minOf(original.size, at + 1 + random.nextInt(9)), original.size)
            3 -> before + word.toByteArray() + original.copyOfRange(at, original.size)
            else -> numberReplaced(String(original), random).toByteArray()
        }
    }

    private fun numberReplaced(
        json: String,
        random: Random,
    ): String {
        val numbers = Regex("-?[0-9]+").findAll(json).toList()
        val chosen = numbers[random.nextInt(numbers.size)].range
        return json.replaceRange(chosen, WORDS[random.nextInt(WORDS.size)])
    }

    @Test
    fun `damaged character maps end as an ArtifactException`() {
        val json = Samples.json("small-unigram")
        val map = Regex("\"precompiled_charsmap\":\"([^\"]+)\"").find(json)!!.groupValues[1]
        val bytes = Base64.getDecoder().decode(map)
        val random = Random(9)
        var refused = 0
        repeat(MUTATIONS) {
            val damaged = bytes.copyOf(if (it % 9 == 0) random.nextInt(bytes.size) else bytes.size)
            repeat(minOf(damaged.size, random.nextInt(MOST_DAMAGED))) {
                damaged[random.nextInt(damaged.size)] = random.nextInt().toByte()
            }
            val text = Base64.getEncoder().encodeToString(damaged)
            try {
                val tokenizer = TokenizerReader.read(json.replace(map, text), "tokenizer.json")
                for (sample in TEXTS) tokenizer.encode(sample)
            } catch (error: ArtifactException) {
                refused++
                assertContains(error.message.orEmpty(), "Precompiled")
            }
        }
        assertTrue(refused > MUTATIONS / 2, "$refused")
    }

    @Test
    fun `a file that is too large or missing is refused before it is read`() {
        val file = File(folder.root, "tokenizer.json")
        assertFailsWith<ArtifactException> { TokenizerReader.read(file) }
        RandomAccessFile(file, "rw").use { it.setLength(1L shl 33) }
        assertContains(assertFailsWith<ArtifactException> { TokenizerReader.read(file) }.message.orEmpty(), "at most")
    }

    @Test
    fun `a vocabulary of a quarter of a million pieces is read in seconds`() {
        val pieces =
            (0 until LARGE).joinToString(",") { "[\"\u2581piece${it.toString(36)}q\",-${it % 7}.$it]" }
        val longer = changed("small-unigram", "[\"<s>\",0.0]", "[\"<s>\",0.0],$pieces")
        val json = longer.replace("\"unk_id\":3", "\"unk_id\":${LARGE + 3}")
        val bean = ManagementFactory.getThreadMXBean()
        val before = bean.currentThreadCpuTime
        val tokenizer = TokenizerReader.read(json, "tokenizer.json")
        val seconds = (bean.currentThreadCpuTime - before) / NANOS
        println("$LARGE pieces, ${json.length} characters: read in $seconds s of CPU time")
        val ids = tokenizer.encode("pieceabcq").ids
        assertEquals(listOf("\u2581pieceabcq"), ids.drop(1).dropLast(1).map(tokenizer::token))
        assertTrue(seconds < MOST_SECONDS, "$seconds s")
    }

    private companion object {
        const val MUTATIONS = 300
        const val MOST_DAMAGED = 200
        const val LARGE = 250_000
        const val NANOS = 1e9
        const val MOST_SECONDS = 5.0
        val TEXTS =
            listOf("", "the caf\u00E9 <a> x [MASK]", "\uFF21\u00BD \uD83D\uDE00\u200D\u0301 word's", "x".repeat(300))
        val WORDS =
            listOf("-1", "null", "true", "1e400", "99999999999999999999", "2147483647", "[]", "{}", ",") +
                listOf("\"\"", "\\u0000", "\\ud800")
    }
}
