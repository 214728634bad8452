package org.mobilekit.core.answer

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.EngineException
import org.mobilekit.core.InputException
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.manifest.Manifest

/** Tokens through an engine, at the length that holds them. */
internal class ModelRunner(
    private val manifest: Manifest,
    private val engine: Engine,
) {
    /** The smallest exported length of [size] or more; throws [InputException] where there is none. */
    fun lengthFor(size: Int): Int =
        manifest.lengths.firstOrNull { it.length >= size }?.length ?: throw InputException(
            "an input of $size ids is longer than the longest exported length, ${manifest.lengths.last().length}; " +
                "give a shorter text.",
        )

    /** The graph's inputs by name, [length] values each. [predict]: the token that is asked for, where one is. */
    fun padded(
        ids: IntArray,
        types: IntArray,
        length: Int,
        predict: Int = 0,
    ): Map<String, IntArray> =
        manifest.inputs.associate { input ->
            val row = IntArray(length) { if (input.name == Manifest.INPUT_IDS) manifest.tokenizer.padId else 0 }
            when (input.name) {
                Manifest.INPUT_IDS -> ids.copyInto(row)
                Manifest.TOKEN_TYPE_IDS -> types.copyInto(row)
                Manifest.ATTENTION_MASK -> row.fill(1, 0, ids.size)
                else -> row[predict] = 1
            }
            input.name to row
        }

    /**
     * The output of one input, row by row, those of padding left out.
     *
     * Throws [InputException] for no ids, [EngineException] where the engine fails or gives values that are not finite,
     * [ArtifactException] where the file gives something else than its manifest says.
     */
    fun run(
        ids: IntArray,
        types: IntArray,
        length: Int = lengthFor(ids.size),
        predict: Int = 0,
    ): FloatArray {
        if (ids.isEmpty()) throw InputException("${manifest.name}: the text has no tokens; give another text.")
        return output(length, padded(ids, types, length, predict), ids.size)
    }

    /** The same for [inputs] that are padded already; [tokens] of them are real. */
    fun output(
        length: Int,
        inputs: Map<String, IntArray>,
        tokens: Int,
    ): FloatArray {
        val outputs = engine.run(length, inputs)
        val values = outputs[manifest.output.name]
        val wanted = (if (manifest.task.perToken) length else 1) * manifest.outputSize
        if (values?.size != wanted) {
            val got = if (values == null) outputs.keys.joinToString() else "${values.size}"
            throw ArtifactException(
                "${manifest.name}: its manifest says that the file gives ${manifest.output.name} of $wanted values " +
                    "at length $length; it gives $got; export again.",
            )
        }
        val kept = if (manifest.task.perToken) values.copyOf(tokens * manifest.outputSize) else values
        if (!kept.all { it.isFinite() }) {
            throw EngineException(
                "${manifest.name}: its output has values that are not finite (NaN or infinity) on this device; use " +
                    "another scheme.",
            )
        }
        return kept
    }
}
