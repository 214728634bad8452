package org.mobilekit.hostengine

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.boolean
import kotlinx.serialization.json.contentOrNull
import kotlinx.serialization.json.double
import kotlinx.serialization.json.float
import kotlinx.serialization.json.int
import kotlinx.serialization.json.intOrNull
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import org.mobilekit.core.answer.Item
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.artifact.Artifacts
import java.io.File

/** An artifact that scripts/android_vectors.py exported, and what mobilekit got from it in Python. */
class ModelVectors(
    val name: String,
    val artifact: Artifact,
    val runs: List<Run>,
) {
    /**
     * [inputs]: as the engine gets them; [output]: of the head, for the tokens that the text has; [tokens], [truncated],
     * [items]: of the answer.
     */
    class Run(
        val text: String,
        val pair: String?,
        val length: Int,
        val inputs: Map<String, IntArray>,
        val output: FloatArray,
        val tokens: Int,
        val truncated: Boolean,
        val items: List<Item>,
    )

    companion object {
        private val models: File by lazy {
            File(checkNotNull(System.getProperty("mobilekit.vectors")) { "needs -Dmobilekit.vectors=FOLDER" }, "models")
        }
        private val known = HashMap<String, ModelVectors>()

        /** Of all that there are; the property `mobilekit.vectors` says where. */
        val names: List<String>
            get() =
                checkNotNull(models.listFiles { file -> file.isDirectory }) { "$models is not there" }
                    .map { it.name }
                    .sorted()

        fun named(name: String): ModelVectors = known.getOrPut(name) { read(File(models, name)) }

        private fun read(folder: File): ModelVectors {
            val expected = Json.parseToJsonElement(File(folder, "expected.json").readText()).jsonObject
            val runs = expected.getValue("runs").jsonArray.map { run(it.jsonObject) }
            return ModelVectors(folder.name, Artifacts.open(File(folder, "artifact")), runs)
        }

        private fun run(content: JsonObject): Run =
            Run(
                content.getValue("text").jsonPrimitive.content,
                content.getValue("pair").jsonPrimitive.contentOrNull,
                content.getValue("length").jsonPrimitive.int,
                content.getValue("inputs").jsonObject.mapValues { (_, values) ->
                    IntArray(values.jsonArray.size) { values.jsonArray[it].jsonPrimitive.int }
                },
                floats(content.getValue("output").jsonArray),
                content.getValue("tokens").jsonPrimitive.int,
                content.getValue("truncated").jsonPrimitive.boolean,
                content.getValue("items").jsonArray.map { item(it.jsonObject) },
            )

        private fun item(content: JsonObject): Item =
            Item(
                content.getValue("label").jsonPrimitive.content,
                content.getValue("score").jsonPrimitive.double,
                content.getValue("text").jsonPrimitive.contentOrNull,
                content.getValue("start").jsonPrimitive.intOrNull,
                content.getValue("end").jsonPrimitive.intOrNull,
                content.getValue("chosen").jsonPrimitive.boolean,
            )

        private fun floats(values: JsonArray): FloatArray = FloatArray(values.size) { values[it].jsonPrimitive.float }
    }
}
