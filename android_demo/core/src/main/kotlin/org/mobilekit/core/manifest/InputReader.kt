package org.mobilekit.core.manifest

import org.mobilekit.core.json.Field

// What a manifest says of inputs: its tokenizer and golden ones.

internal const val MOST_LENGTH = 65_536
internal const val MOST_GOLDEN = 64
private const val MOST_VALUES = 65_536
private const val MOST_OUTPUT = 3.5e38

internal fun Field.tokenizer(): TokenizerInfo {
    val found =
        members(
            setOf(
                "type",
                "file",
                "vocabulary",
                "lower_case",
                "special_ids",
                "pad_id",
                "mask_id",
                "template",
                "pair_template",
                "max_length",
                "prefix",
                "parity_sha256",
            ),
        )
    found("parity_sha256").sha256()
    return TokenizerInfo(
        type = found("type").text(),
        file = found("file").fileName(),
        vocabulary = found("vocabulary").orNull { fileName() },
        lowerCase = found("lower_case").flag(),
        specialIds = found("special_ids").members().mapValues { it.value.int() },
        padId = found("pad_id").int(),
        maskId = found("mask_id").orNull { int() },
        template = found("template").list().map { it.text() },
        pairTemplate = found("pair_template").list().map { it.text() },
        maxLength = found("max_length").int(1),
        prefix = found("prefix").text(),
    )
}

internal fun Field.golden(): Golden {
    val found =
        members(
            setOf(
                "text",
                "text_pair",
                "length",
                "input_ids",
                "token_type_ids",
                "predict",
                "rows",
                "columns",
                "output",
            ),
        )
    return Golden(
        text = found("text").text(),
        textPair = found("text_pair").orNull { text() },
        length = found("length").int(1, MOST_LENGTH),
        inputIds = found("input_ids").ids(),
        tokenTypeIds = found("token_type_ids").ids(),
        predict = found("predict").orNull { int() },
        rows = found("rows").orNull { ids() },
        columns = found("columns").orNull { ids() },
        output = found("output").output(),
    )
}

private fun Field.output(): FloatArray {
    val found = list(1, MOST_VALUES)
    return FloatArray(found.size) {
        val value = found[it].number(-MOST_OUTPUT, MOST_OUTPUT)
        if (!value.isFinite()) found[it].fail("is not finite")
        value.toFloat()
    }
}
