package org.mobilekit.demo.support

import org.mobilekit.core.text.Encoding
import org.mobilekit.core.text.Tokenizer
import org.mobilekit.core.text.Truncation

/** Words and marks, each a token; known words have their own ids, others share some. */
object FakeTokenizer : Tokenizer {
    const val PAD = 0
    const val CLS = 2
    const val SEP = 3
    const val MASK = 4
    const val SIZE = 200
    private const val FIRST = 5

    private val words =
        (
            "lovely fair terrible slow the a is and camera battery price window door curtains book oven " +
                "Ada Lovelace Charles Babbage London Siemens Berlin five eight nine at on in"
        ).split(" ")

    override val maskToken: String = "[MASK]"
    override val maskId: Int = MASK

    override fun token(id: Int): String? = words.getOrNull(id - FIRST) ?: if (id in 0 until SIZE) "#$id" else null

    override fun decode(ids: IntArray): String = ids.filter { it >= FIRST }.joinToString(" ") { token(it).orEmpty() }

    override fun encode(
        text: String,
        pair: String?,
        limit: Int,
        truncation: Truncation,
    ): Encoding {
        var first = pieces(text)
        var second = pair?.let(::pieces).orEmpty()
        val room = limit - if (pair == null) 2 else 3
        val cut = first.size + second.size > room
        if (cut && pair == null) first = first.take(room)
        if (cut && pair != null) {
            first = first.take(room / 2)
            second = second.take(room - first.size)
        }
        val rows = ArrayList<Row>()
        rows += Row(CLS)
        first.forEachIndexed { word, range -> rows += Row(id(text.substring(range)), 0, range, word, 0) }
        rows += Row(SEP)
        if (pair != null) {
            second.forEachIndexed { word, range -> rows += Row(id(pair.substring(range)), 1, range, word, 1) }
            rows += Row(SEP, 1)
        }
        return Encoding(
            rows.ints { it.id },
            rows.ints { it.type },
            rows.ints { it.range?.first ?: 0 },
            rows.ints { it.range?.let { range -> range.last + 1 } ?: 0 },
            rows.ints { it.word },
            rows.ints { it.sequence },
            cut,
        )
    }

    fun id(word: String): Int =
        when {
            word == maskToken -> MASK
            word in words -> FIRST + words.indexOf(word)
            else -> FIRST + words.size + (word.hashCode() and 0xffff) % (SIZE - FIRST - words.size)
        }

    private class Row(
        val id: Int,
        val type: Int = 0,
        val range: IntRange? = null,
        val word: Int = -1,
        val sequence: Int = -1,
    )

    private fun List<Row>.ints(of: (Row) -> Int): IntArray = IntArray(size) { of(this[it]) }

    private fun pieces(text: String): List<IntRange> {
        val found = ArrayList<IntRange>()
        var at = 0
        while (at < text.length) {
            val start = at
            when {
                text.startsWith(maskToken, at) -> at += maskToken.length
                text[at].isLetterOrDigit() -> while (at < text.length && text[at].isLetterOrDigit()) at++
                else -> at++
            }
            if (text[start].isWhitespace().not()) found += start until at
        }
        return found
    }
}
