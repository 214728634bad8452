package org.mobilekit.core.text

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.text.model.TokenTrie
import org.mobilekit.core.text.model.Vocabulary
import org.mobilekit.core.text.normalize.AlignedText
import org.mobilekit.core.text.normalize.Normalizer
import org.mobilekit.core.text.normalize.codePointArray
import org.mobilekit.core.text.split.Pieces
import org.mobilekit.core.text.unicode.Unicode

/** A token that is found in a text as it is, outside of the model's own rules; the fields are those of the file. */
internal data class AddedToken(
    val content: String,
    val singleWord: Boolean,
    val lstrip: Boolean,
    val rstrip: Boolean,
    val normalized: Boolean,
    val special: Boolean,
)

/**
 * The added tokens of a tokenizer: those that are looked for in the text as it is, and those that are looked for, in
 * their normalised form, in what the normaliser left.
 */
internal class AddedTokens(
    listed: List<AddedToken>,
    vocabulary: Vocabulary,
    normalizer: Normalizer?,
) {
    private val tokens = LinkedHashMap<Int, AddedToken>()
    private val normalizedTexts = HashMap<Int, String>()
    private val specials = HashSet<String>()
    private val raw: Finder?
    private val normalized: Finder?

    init {
        // As in the library: the ids in the file say nothing, and what the vocabulary lacks gets the next ones.
        val ids = HashMap<String, Int>()
        var next = vocabulary.size
        for (token in listed) {
            if (token.content.isEmpty()) continue
            val known = ids[token.content] ?: vocabulary.id(token.content).takeIf { it != TokenTrie.NONE }
            val id = known ?: next++
            ids[token.content] = id
            tokens[id] = token
            if (token.special) specials += token.content
            if (token.normalized && normalizer != null) {
                val text = normalize(token.content, normalizer)
                if (text != token.content) normalizedTexts[id] = text
            }
        }
        raw = finder(tokens.filterValues { !it.normalized })
        normalized = finder(tokens.filterValues { it.normalized })
    }

    /** What an id is written as, null where it is none of these. */
    fun text(id: Int): String? = tokens[id]?.let { normalizedTexts[id] ?: it.content }

    fun isSpecial(text: String): Boolean = text in specials

    /** The ids of special tokens, by their text. */
    fun specialIds(): Map<String, Int> =
        tokens.entries.filter { it.value.special }.associate { (id, token) -> token.content to id }

    /** Cuts a text at the tokens that are looked for as they are. */
    fun splitRaw(text: AlignedText): Pieces = split(text, raw)

    /** Cuts a normalised text at the others. */
    fun splitNormalized(text: AlignedText): Pieces = split(text, normalized)

    private fun split(
        text: AlignedText,
        finder: Finder?,
    ): Pieces {
        val pieces = Pieces(text)
        if (finder == null) {
            if (text.size > 0) pieces.add(0, text.size)
            return pieces
        }
        var last = 0
        finder.find(text) { from, to, id ->
            val token = tokens.getValue(id)
            if (!token.singleWord || isAlone(text, from, to)) {
                val begin = if (token.lstrip) maxOf(spacesBegin(text, from), last) else from
                val end = if (token.rstrip) spacesEnd(text, to) else to
                pieces.add(last, begin)
                pieces.add(begin, end, text.starts[begin], id)
                last = end
            }
        }
        pieces.add(last, text.size)
        return pieces
    }

    private fun isAlone(
        text: AlignedText,
        from: Int,
        to: Int,
    ): Boolean {
        val before = from > 0 && Unicode.has(text.points[from - 1], Unicode.WORD)
        val behind = to < text.size && Unicode.has(text.points[to], Unicode.WORD)
        return !before && !behind
    }

    private fun spacesBegin(
        text: AlignedText,
        from: Int,
    ): Int {
        var at = from
        while (at > 0 && Unicode.has(text.points[at - 1], Unicode.WHITE)) at--
        return at
    }

    private fun spacesEnd(
        text: AlignedText,
        from: Int,
    ): Int {
        var at = from
        while (at < text.size && Unicode.has(text.points[at], Unicode.WHITE)) at++
        return at
    }

    private fun normalize(
        content: String,
        normalizer: Normalizer,
    ): String {
        val text = AlignedText(content.length)
        content.codePointArray().forEachIndexed { i, point -> text.add(point, i, i + 1) }
        normalizer.normalize(text)
        return String(text.points, 0, text.size)
    }

    private fun finder(wanted: Map<Int, AddedToken>): Finder? {
        if (wanted.isEmpty()) return null
        val finder = Finder()
        for (id in wanted.keys) finder.add(checkNotNull(text(id)), id)
        return finder
    }
}

/** Finds the first and longest of several texts, again and again. */
private class Finder {
    private val trie = TokenTrie()

    fun add(
        text: String,
        id: Int,
    ) {
        if (text.isEmpty()) throw ArtifactException("added token $id: nothing is left of it when it is normalised.")
        if (trie.find(text) != TokenTrie.NONE) {
            throw ArtifactException("added token $id: '$text' is also what is left of another one when normalised.")
        }
        trie.put(text, id)
    }

    inline fun find(
        text: AlignedText,
        found: (from: Int, to: Int, id: Int) -> Unit,
    ) {
        var at = 0
        while (at < text.size) {
            val end = longest(text, at)
            if (end < 0) {
                at++
            } else {
                found(at, end, trie.find(text.points, at, end))
                at = end
            }
        }
    }

    /** The end of the longest text at [from], or -1. */
    fun longest(
        text: AlignedText,
        from: Int,
    ): Int {
        var node = TokenTrie.ROOT
        var end = -1
        var at = from
        while (at < text.size) {
            node = trie.child(node, text.points[at++])
            if (node == TokenTrie.NONE) break
            if (trie.value(node) != TokenTrie.NONE) end = at
        }
        return end
    }
}
