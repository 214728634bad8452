package org.mobilekit.core.manifest

/** What a model answers; [id] is its name in a manifest. */
enum class Task(
    val id: String,
) {
    SENTENCE_EMBEDDING("sentence-embedding"),
    SEQUENCE_CLASSIFICATION("sequence-classification"),
    TOKEN_CLASSIFICATION("token-classification"),
    QUESTION_ANSWERING("question-answering"),
    FILL_MASK("fill-mask"),
    ;

    /** Whether each token has a row of the output. */
    val perToken: Boolean get() = this == TOKEN_CLASSIFICATION || this == QUESTION_ANSWERING
}

/** How the logits of a classifier are read: a softmax, a sigmoid each, or as they are. */
enum class ProblemType(
    val id: String,
) {
    SINGLE_LABEL("single_label_classification"),
    MULTI_LABEL("multi_label_classification"),
    REGRESSION("regression"),
}

/** What the checks at export said. */
enum class Status(
    val id: String,
) {
    PASSED("passed"),
    FAILED("failed"),
    UNCHECKED("unchecked"),
}

/** An input or output of the graph; a null in [shape] is the length. */
data class Port(
    val name: String,
    val dtype: String,
    val shape: List<Int?>,
    val meaning: String,
) {
    /** How many values it has at an exported [length]. */
    fun size(length: Int): Int = shape.fold(1) { size, dimension -> size * (dimension ?: length) }
}

/** An exported length and the method, signature or function that takes it (empty: the file's only one). */
data class EntryPoint(
    val length: Int,
    val entry: String,
)

/** What a manifest says of the tokenizer; the tokenizer itself is in [file]. */
data class TokenizerInfo(
    val type: String,
    val file: String,
    val vocabulary: String?,
    val lowerCase: Boolean,
    val specialIds: Map<String, Int>,
    val padId: Int,
    val maskId: Int?,
    val template: List<String>,
    val pairTemplate: List<String>,
    val maxLength: Int,
    val prefix: String,
)

/** An input, and what the decoded weights give for it; see docs/manifest.md. */
class Golden(
    val text: String,
    val textPair: String?,
    val length: Int,
    val inputIds: IntArray,
    val tokenTypeIds: IntArray,
    val predict: Int?,
    val rows: IntArray?,
    val columns: IntArray?,
    val output: FloatArray,
)

/** How far outputs may be from golden ones. */
data class Tolerance(
    val metric: Metric,
    val limit: Double,
) {
    enum class Metric(
        val id: String,
    ) {
        /** The largest difference, at most the limit. */
        MAX_ABS("max_abs"),

        /** The cosine of all values, at least the limit. */
        COSINE("cosine"),
    }
}

/** Parameters and bytes of the weights of a group. */
data class TensorGroup(
    val parameters: Long,
    val bytes: Long,
)

/** manifest.json: what an artifact is and how it is run; see docs/manifest.md. Sizes are bytes. */
class Manifest(
    val name: String,
    val model: String,
    val task: Task,
    val labels: List<String>,
    val problemType: ProblemType?,
    val sourceId: String,
    val license: String,
    val target: String,
    val file: String,
    val bytes: Long,
    val sha256: String,
    val files: Map<String, String>,
    val scheme: String,
    val inputs: List<Port>,
    val outputs: List<Port>,
    val lengths: List<EntryPoint>,
    val tokenizer: TokenizerInfo,
    val parameters: Long,
    val layers: Int,
    val groups: Map<String, TensorGroup>,
    val precision: Precision,
    val golden: List<Golden>,
    val hostTolerance: Tolerance,
    val deviceTolerance: Tolerance,
    val status: Status,
    val versions: Map<String, String>,
    val engine: String,
    val engineMinimumVersion: String,
    val minimumOs: Map<String, String>,
) {
    /** The head's own output. */
    val output: Port get() = outputs.first()

    /** Values of a row of the output. */
    val outputSize: Int get() = checkNotNull(output.shape.last())

    /** Whether the graph is told which token is asked for. */
    val asksToken: Boolean get() = inputs.any { it.name == PREDICT_MASK }

    /** The longest input in tokens, special ones included. */
    val maxLength: Int get() = minOf(lengths.last().length, tokenizer.maxLength)

    companion object {
        const val FILE = "manifest.json"
        const val SCHEMA = 1
        const val INPUT_IDS = "input_ids"
        const val ATTENTION_MASK = "attention_mask"
        const val TOKEN_TYPE_IDS = "token_type_ids"
        const val PREDICT_MASK = "predict_mask"
    }
}
