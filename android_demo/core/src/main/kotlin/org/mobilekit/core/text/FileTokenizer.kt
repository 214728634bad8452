package org.mobilekit.core.text

import org.mobilekit.core.InputException
import org.mobilekit.core.firstHalfPair
import org.mobilekit.core.text.decode.Decoder
import org.mobilekit.core.text.model.Model
import org.mobilekit.core.text.model.Tokens
import org.mobilekit.core.text.normalize.AlignedText
import org.mobilekit.core.text.normalize.Normalizer
import org.mobilekit.core.text.normalize.codePointArray
import org.mobilekit.core.text.process.PostProcessor
import org.mobilekit.core.text.process.TokenSpaces
import org.mobilekit.core.text.process.truncate
import org.mobilekit.core.text.split.Pieces
import org.mobilekit.core.text.split.PreTokenizer

/** A tokenizer made of the parts that its file lists, each as in the reference `tokenizers` library. */
internal class FileTokenizer(
    private val normalizer: Normalizer?,
    private val preTokenizer: PreTokenizer?,
    private val model: Model,
    private val processor: PostProcessor,
    private val decoder: Decoder?,
    private val added: AddedTokens,
) : Tokenizer {
    private val specialIds = added.specialIds()
    private val spaces = processor.trimming?.let { TokenSpaces(model.vocabulary) }

    override val maskToken: String? = MASKS.firstOrNull { it in specialIds }
    override val maskId: Int? = specialIds[maskToken]

    override fun token(id: Int): String? = added.text(id) ?: model.vocabulary.token(id)

    override fun decode(ids: IntArray): String {
        val tokens =
            ids.map { token(it) ?: throw InputException("id $it is not in the tokenizer's vocabulary.") }
        val shown = tokens.filter { !added.isSpecial(it) }
        return decoder?.decode(shown)?.joinToString("") ?: shown.joinToString(" ")
    }

    override fun encode(
        text: String,
        pair: String?,
        limit: Int,
        truncation: Truncation,
    ): Encoding {
        val sources = listOfNotNull(text, pair).map(::Source)
        val texts = sources.map { tokenize(it.points) }
        val template = if (pair == null) processor.single else processor.pair
        val isLong = template.added + texts.sumOf { it.size.toLong() } > limit
        if (isLong) truncate(texts, template.added, limit, truncation)
        processor.trimming?.let { trimming -> texts.forEach(trimming::trim) }
        return template.apply(texts, sources.map { it.places }, isLong)
    }

    /** A text's code points, and where they stand in it, or null where that is their number. */
    private class Source(
        text: String,
    ) {
        val points: IntArray
        val places: IntArray?

        init {
            val half = firstHalfPair(text)
            if (half >= 0) {
                val character = text.codePointCount(0, half)
                throw InputException("text cannot be encoded: character $character is not valid Unicode.")
            }
            points = text.codePointArray()
            places = if (points.size == text.length) null else IntArray(points.size + 1)
            places?.let { found -> for (i in points.indices) found[i + 1] = found[i] + Character.charCount(points[i]) }
        }
    }

    private fun tokenize(points: IntArray): Tokens {
        val whole = AlignedText(points.size)
        for (i in points.indices) whole.add(points[i], i, i + 1)
        val tokens = Tokens()
        val parts = added.splitRaw(whole)
        var word = 0
        for (i in 0 until parts.size) {
            val part =
                if (parts.tokens[i] >= 0) {
                    Pieces(whole).apply { add(parts.froms[i], parts.tos[i], parts.origins[i], parts.tokens[i]) }
                } else {
                    val text = AlignedText(parts.tos[i] - parts.froms[i], parts.origins[i])
                    text.addAll(whole, parts.froms[i], parts.tos[i])
                    split(text)
                }
            word = addTokens(part, word, tokens)
        }
        return tokens
    }

    private fun split(text: AlignedText): Pieces {
        normalizer?.normalize(text)
        val pieces = added.splitNormalized(text)
        return preTokenizer?.split(pieces) ?: pieces
    }

    /** Adds the tokens of [pieces], whose words are numbered from [firstWord]; returns the next number. */
    private fun addTokens(
        pieces: Pieces,
        firstWord: Int,
        tokens: Tokens,
    ): Int {
        val text = pieces.text
        for (i in 0 until pieces.size) {
            val (from, to) = pieces.froms[i] to pieces.tos[i]
            val id = pieces.tokens[i]
            val before = tokens.size
            if (id >= 0) {
                tokens.add(id, text.starts[from], text.ends[to - 1], firstWord + i)
                if (spaces != null) tokens.spaced(before, TokenSpaces.of(String(text.points, from, to - from)))
            } else {
                model.tokenize(text, from, to, firstWord + i, tokens)
                if (spaces != null) for (at in before until tokens.size) tokens.spaced(at, spaces.of(tokens.ids[at]))
            }
        }
        return firstWord + pieces.size
    }

    private companion object {
        /** What the two families of special tokens call the one for a missing word. */
        val MASKS = listOf("[MASK]", "<mask>")
    }
}
