package org.mobilekit.core.text

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.boolean
import kotlinx.serialization.json.contentOrNull
import kotlinx.serialization.json.int
import kotlinx.serialization.json.intOrNull
import org.mobilekit.core.InputException
import java.io.File
import kotlin.test.assertEquals

/** What the reference library makes of strings: a folder that `scripts/tokenizer_vectors.py` wrote. */
internal class Vectors(
    private val folder: File,
) {
    /** The tokenizers that have vectors, and how many; of a folder that was not finished there are none. */
    val counts: Map<String, Int> = read(File(folder, "complete.json").readText()).mapValues { primitive(it.value).int }

    /** Compares every vector, and returns the differences. */
    fun differences(name: String): List<String> {
        val tokenizer = TokenizerReader.read(File(File(folder, name), "tokenizer.json"))
        val found = mutableListOf<String>()
        var count = 0
        File(File(folder, name), "vectors.jsonl").forEachLine { line ->
            count++
            difference(tokenizer, read(line))?.let { found += "$name, line $count: $it\n$line" }
        }
        assertEquals(counts[name], count, "lines of $name")
        return found
    }

    private fun difference(
        tokenizer: Tokenizer,
        vector: JsonObject,
    ): String? {
        val text = primitive(vector["text"] ?: return decodedDifference(tokenizer, vector)).content
        val pair = primitive(vector.getValue("pair")).contentOrNull
        val limit = primitive(vector.getValue("limit")).intOrNull ?: Int.MAX_VALUE
        val truncation = primitive(vector.getValue("truncation")).contentOrNull ?: "longest_first"
        val made =
            try {
                tokenizer.encode(text, pair, limit, Truncation.valueOf(truncation.uppercase()))
            } catch (error: InputException) {
                return if (error.message == vector["error"]?.let { primitive(it).content }) null else error.message
            }
        val lists =
            mapOf(
                "ids" to made.ids,
                "types" to made.typeIds,
                "starts" to made.starts,
                "ends" to made.ends,
                "words" to made.words,
                "sequences" to made.sequences,
            )
        for ((name, got) in lists) {
            val expected = vector[name] as? JsonArray ?: return "no error, where the library has one"
            if (got.toList() != expected.map { primitive(it).int }) return "$name are ${got.toList()}"
        }
        if (made.truncated != primitive(vector.getValue("truncated")).boolean) return "truncated is ${made.truncated}"
        return decodedDifference(tokenizer, vector)
    }

    private fun decodedDifference(
        tokenizer: Tokenizer,
        vector: JsonObject,
    ): String? {
        val ids = (vector.getValue("ids") as JsonArray).map { primitive(it).int }
        val decoded = tokenizer.decode(ids.toIntArray())
        return if (decoded == primitive(vector.getValue("decoded")).content) null else "decoded is '$decoded'"
    }

    private fun read(line: String): JsonObject = Json.parseToJsonElement(line) as JsonObject

    private fun primitive(element: Any): JsonPrimitive = element as JsonPrimitive
}
