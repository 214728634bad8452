package org.mobilekit.core.manifest

// What a schema cannot say: that the parts of a manifest fit each other (mobilekit/manifest_rules.py).

private val INPUTS =
    setOf(Manifest.INPUT_IDS, Manifest.ATTENTION_MASK, Manifest.TOKEN_TYPE_IDS, Manifest.PREDICT_MASK)

/** Place and reason of the first contradiction, or null. */
internal fun contradiction(
    manifest: Manifest,
    tensors: List<TensorEntry>,
): String? =
    filesFault(manifest)
        ?: labelsFault(manifest)
        ?: inputsFault(manifest)
        ?: outputFault(manifest)
        ?: idsFault(manifest, tensors)
        ?: typesFault(manifest, tensors)
        ?: manifest.golden.indices.firstNotNullOfOrNull { i ->
            goldenFault(manifest, manifest.golden[i])?.let { "golden/$i: $it" }
        }

private fun filesFault(manifest: Manifest): String? {
    val (file, files) = manifest.file to manifest.files
    val lengths = manifest.lengths.map { it.length }
    val missing = listOfNotNull(manifest.tokenizer.file, manifest.tokenizer.vocabulary).firstOrNull { it !in files }
    return when {
        lengths != lengths.toSortedSet().toList() -> {
            "lengths have to ascend, each once"
        }

        file in files || file == Manifest.FILE || Manifest.FILE in files -> {
            "file: '$file' and files name the manifest, or the same file twice"
        }

        missing != null -> {
            "tokenizer: '$missing' is not among files"
        }

        else -> {
            null
        }
    }
}

private fun labelsFault(manifest: Manifest): String? {
    val (task, labels) = manifest.task to manifest.labels
    val labelled = task == Task.SEQUENCE_CLASSIFICATION || task.perToken
    return when {
        labels.isNotEmpty() != labelled || labels.toSet().size != labels.size -> {
            "labels: a ${task.id} model has ${if (labelled) "some, each once" else "none"}"
        }

        labels.any { it.any(::isControl) } -> {
            "labels: one has a line break or a control character"
        }

        (manifest.problemType == null) == (task == Task.SEQUENCE_CLASSIFICATION) -> {
            "problem_type: does not fit task ${task.id}"
        }

        else -> {
            null
        }
    }
}

/** Line breaks would tear lists of labels apart, and the rest steers terminals. */
internal fun isControl(character: Char): Boolean =
    character <= '\u001f' || character in '\u007f'..'\u009f' || character == '\u2028' || character == '\u2029'

private fun inputsFault(manifest: Manifest): String? {
    val names = manifest.inputs.map { it.name }
    return when {
        names.toSet().size != names.size || Manifest.INPUT_IDS !in names || !INPUTS.containsAll(names) -> {
            "inputs: expected input_ids and others of ${INPUTS.joinToString()}, each once"
        }

        manifest.asksToken != (manifest.task == Task.FILL_MASK) -> {
            "inputs: ${Manifest.PREDICT_MASK} does not fit task ${manifest.task.id}"
        }

        manifest.inputs.any { it.dtype != "int32" || it.shape != listOf(1, null) } -> {
            "inputs: each has to be int32 [1, length]"
        }

        else -> {
            null
        }
    }
}

private fun outputFault(manifest: Manifest): String? {
    val (task, output) = manifest.task to manifest.output
    val name = if (task == Task.SENTENCE_EMBEDDING) "embedding" else "logits"
    val leading = if (task.perToken) listOf(1, null) else listOf(1)
    val (labels, size) = manifest.labels.size to (output.shape.lastOrNull() ?: 0)
    return when {
        output.name != name || output.shape.dropLast(1) != leading || size == 0 -> {
            "outputs: a ${task.id} model has $name of shape [1, ${if (task.perToken) "length, " else ""}size]"
        }

        labels > 0 && labels != size -> {
            "labels: $labels for an output of $size"
        }

        else -> {
            null
        }
    }
}

private fun idsFault(
    manifest: Manifest,
    tensors: List<TensorEntry>,
): String? {
    val tokenizer = manifest.tokenizer
    val special = tokenizer.specialIds.values + listOfNotNull(tokenizer.padId, tokenizer.maskId)
    val largest = maxOf(special.max(), manifest.golden.maxOf { it.inputIds.max() })
    val rows = rowsOf(tensors, "embeddings.token.weight") ?: return null
    return if (largest < rows) null else "tokenizer: id $largest is beyond the $rows rows of the embedding"
}

private fun typesFault(
    manifest: Manifest,
    tensors: List<TensorEntry>,
): String? {
    val largest = manifest.golden.maxOf { it.tokenTypeIds.max() }
    val rows = rowsOf(tensors, "embeddings.token_type.weight") ?: return null
    val reads = manifest.inputs.any { it.name == Manifest.TOKEN_TYPE_IDS }
    return if (largest < rows || !reads) null else "golden: token type $largest is beyond the $rows rows of its table"
}

private fun rowsOf(
    tensors: List<TensorEntry>,
    name: String,
): Int? =
    tensors
        .firstOrNull { it.name == name && it.shape.isNotEmpty() }
        ?.shape
        ?.first()
        ?.takeIf { it.written }
        ?.size

private fun goldenFault(
    manifest: Manifest,
    entry: Golden,
): String? {
    val count = entry.inputIds.size
    val fits = manifest.lengths.any { it.length == entry.length } && count <= entry.length
    val rows = if (manifest.task.perToken) count else 0
    val asks = manifest.task == Task.FILL_MASK
    val values =
        (entry.rows?.size ?: maxOf(rows, 1)).toLong() * (entry.columns?.size ?: manifest.outputSize)
    return when {
        !fits || entry.tokenTypeIds.size != count -> {
            "its ids, type ids and length do not fit lengths"
        }

        (entry.predict != null) != asks || (entry.predict ?: 0) >= count -> {
            "predict does not fit the task, or is beyond its ids"
        }

        (entry.rows?.max() ?: -1) >= rows -> {
            "rows are beyond its output"
        }

        (entry.columns?.max() ?: -1) >= manifest.outputSize -> {
            "columns are beyond its output"
        }

        entry.output.size.toLong() != values -> {
            "has ${entry.output.size} values of output instead of $values"
        }

        else -> {
            null
        }
    }
}
