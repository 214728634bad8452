package org.mobilekit.core.text.model

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.text.json.JsonCursor

/** The tokens of a model and their ids, which may have gaps. */
internal class Vocabulary private constructor(
    val trie: TokenTrie,
    private val texts: TokenTexts,
    private val ids: IntArray,
) {
    /** Places in [texts], sorted by their ids; null where the place is the id. */
    private val byId: IntArray? = sorted()

    val size: Int get() = texts.size

    /** The id of a token, or [TokenTrie.NONE]. */
    fun id(token: String): Int = trie.find(token)

    fun token(id: Int): String? {
        if (byId == null) return if (id in 0 until size) texts[id] else null
        val at = search(byId, id)
        return if (at < byId.size && ids[byId[at]] == id) texts[byId[at]] else null
    }

    private fun search(
        order: IntArray,
        id: Int,
    ): Int {
        var low = 0
        var high = order.size
        while (low < high) {
            val middle = (low + high) ushr 1
            if (ids[order[middle]] < id) low = middle + 1 else high = middle
        }
        return low
    }

    private fun sorted(): IntArray? {
        if (ids.indices.all { ids[it] == it }) return null
        val packed = LongArray(ids.size) { ids[it].toLong() shl Int.SIZE_BITS or it.toLong() }
        packed.sort()
        for (i in 1 until packed.size) {
            if (packed[i] ushr Int.SIZE_BITS == packed[i - 1] ushr Int.SIZE_BITS) {
                throw ArtifactException("model: two tokens have the id ${packed[i] ushr Int.SIZE_BITS}.")
            }
        }
        return IntArray(packed.size) { packed[it].toInt() }
    }

    companion object {
        /** Reads an object of tokens and ids. Throws ArtifactException for ids that are none, or are there twice. */
        fun read(json: JsonCursor): Vocabulary {
            val trie = TokenTrie()
            val texts = TokenTexts()
            var ids = IntArray(FIRST_CAPACITY)
            json.readObject { token ->
                if (trie.find(token) != TokenTrie.NONE) json.fail("the token '$token' is there twice")
                if (texts.size == ids.size) ids = ids.copyOf(2 * ids.size)
                ids[texts.size] = json.readId()
                trie.put(token, ids[texts.size])
                texts.add(token)
            }
            return Vocabulary(trie, texts, ids.copyOf(texts.size))
        }

        /** Of tokens whose ids are their places; the last of two equal ones counts. */
        fun of(texts: TokenTexts): Vocabulary {
            val trie = TokenTrie()
            for (i in 0 until texts.size) trie.put(texts[i], i)
            return Vocabulary(trie, texts, IntArray(texts.size) { it })
        }

        private const val FIRST_CAPACITY = 1 shl 8
    }
}
