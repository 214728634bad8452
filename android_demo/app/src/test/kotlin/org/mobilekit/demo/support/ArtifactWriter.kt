package org.mobilekit.demo.support

import org.mobilekit.core.manifest.Task
import java.io.File
import java.security.MessageDigest

/** Writes small artifacts that core takes for whole ones; [FakeLibrary] runs them. */
class ArtifactWriter(
    private val task: Task,
    private val model: String,
    private val scheme: String = "int8",
    private val target: String = "tflite",
) {
    /** What is done to the manifest's text before it is written. */
    var change: (String) -> String = { it }

    /** Added to what the golden outputs should be. */
    var goldenError: Float = 0f

    /** Write it into a new folder. */
    fun write(folder: File): File {
        check(folder.mkdirs())
        val weights = ByteArray(WEIGHTS) { (it * model.hashCode()).toByte() }
        File(folder, "model.$target").writeBytes(weights)
        val tokenizer = "{}".toByteArray()
        File(folder, "tokenizer.json").writeBytes(tokenizer)
        File(folder, "manifest.json").writeText(change(manifest(sha256(weights), sha256(tokenizer))))
        return folder
    }

    private fun manifest(
        modelHash: String,
        tokenizerHash: String,
    ): String {
        val problem = if (task == Task.SEQUENCE_CLASSIFICATION) "\"single_label_classification\"" else "null"
        val names = listOf("input_ids", "attention_mask") + listOf("predict_mask").filter { task == Task.FILL_MASK }
        val inputs = names.joinToString { port(it, "int32", "1, \"length\"") }
        return """
            {"schema": 1, "name": "$model-$scheme", "model": "$model", "task": "${task.id}", "labels": ${labels()},
            "problem_type": $problem,
            "source": {"id": "made-up", "revision": "", "license": "mit", "weights_sha256": "$ZERO"},
            "target": "$target", "file": "model.$target", "bytes": $WEIGHTS, "sha256": "$modelHash",
            "files": {"tokenizer.json": "$tokenizerHash"}, "scheme": "$scheme",
            "plan": [{"pattern": "*", "scheme": "$scheme"}],
            "inputs": [$inputs],
            "outputs": [${outputPort()}],
            "lengths": [{"length": 32, "entry": "length_32"}, {"length": 128, "entry": "length_128"}], "exits": [],
            "tokenizer": {"type": "wordpiece", "file": "tokenizer.json", "vocabulary": null, "lower_case": false,
            "special_ids": {"[PAD]": 0, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}, "pad_id": 0, "mask_id": 4,
            "template": ["[CLS]:0", "${'$'}A:0", "[SEP]:0"],
            "pair_template": ["[CLS]:0", "${'$'}A:0", "[SEP]:0", "${'$'}B:1", "[SEP]:1"],
            "max_length": 512, "prefix": "", "parity_sha256": "$ZERO"},
            "parameters": 1000, "layers": 2,
            "tensors": [{"name": "embeddings.token.weight", "shape": [200, 5], "kind": "quantized", "bits": 8,
            "bytes": 1000, "sha256": {"record": "$ZERO"}}],
            "groups": {"embeddings": {"parameters": 1000, "bytes": 1000}},
            "golden": [${golden().joinToString()}],
            "tolerance": {"host": {"metric": "cosine", "limit": 0.999}, "device": {"metric": "cosine", "limit": 0.99}},
            "checks": [{"name": "made up", "passed": true, "measured": "0", "limit": "0"}], "status": "passed",
            "teacher": null, "accuracy": null, "versions": {}, "engine": {"name": "litert", "minimum_version": "1.0"},
            "minimum_os": {}}
            """.trimIndent()
    }

    private fun labels(): String =
        when (task) {
            Task.SEQUENCE_CLASSIFICATION -> FakeLibrary.LABELS
            Task.TOKEN_CLASSIFICATION -> FakeLibrary.ENTITIES
            Task.QUESTION_ANSWERING -> listOf("start", "end")
            else -> emptyList()
        }.joinToString(prefix = "[", postfix = "]") { "\"$it\"" }

    private fun outputPort(): String =
        when (task) {
            Task.SENTENCE_EMBEDDING -> port("embedding", "float32", "1, ${FakeLibrary.EMBEDDING}")
            Task.SEQUENCE_CLASSIFICATION -> port("logits", "float32", "1, ${FakeLibrary.LABELS.size}")
            Task.TOKEN_CLASSIFICATION -> port("logits", "float32", "1, \"length\", ${FakeLibrary.ENTITIES.size}")
            Task.QUESTION_ANSWERING -> port("logits", "float32", "1, \"length\", 2")
            Task.FILL_MASK -> port("logits", "float32", "1, ${FakeTokenizer.SIZE}")
        }

    private fun port(
        name: String,
        dtype: String,
        shape: String,
    ) = "{\"name\": \"$name\", \"dtype\": \"$dtype\", \"shape\": [$shape], \"meaning\": \"made up\"}"

    private fun golden(): List<String> =
        listOf("lovely window in London at five [MASK]", "terrible door [MASK] and a slow book at nine").map { text ->
            val pair = if (task == Task.QUESTION_ANSWERING) "It closes at five in Berlin" else null
            val encoding = FakeTokenizer.encode(text, pair)
            val predict = encoding.ids.indexOf(FakeTokenizer.MASK).takeIf { task == Task.FILL_MASK }
            val output = FakeLibrary.madeUp(task, encoding.ids, IntArray(encoding.size) { 1 })
            val values = output.mapIndexed { i, value -> if (i % 2 == 0) value + goldenError else value }
            """
            {"text": "$text", "text_pair": ${pair?.let {
                "\"$it\""
            }}, "length": 32, "input_ids": ${encoding.ids.asList()},
            "token_type_ids": ${encoding.typeIds.asList()}, "predict": $predict, "rows": null, "columns": null,
            "output": $values}
            """.trimIndent()
        }

    private companion object {
        const val WEIGHTS = 4096
        val ZERO = "0".repeat(64)

        fun sha256(bytes: ByteArray) =
            MessageDigest.getInstance("SHA-256").digest(bytes).joinToString("") { "%02x".format(it) }
    }
}
