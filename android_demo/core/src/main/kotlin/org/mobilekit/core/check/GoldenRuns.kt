package org.mobilekit.core.check

import org.mobilekit.core.answer.TextModel
import org.mobilekit.core.manifest.Golden
import org.mobilekit.core.manifest.Manifest
import java.util.concurrent.CancellationException

/** Golden inputs through a model; asks between runs whether it was cancelled. */
internal class GoldenRuns(
    private val model: TextModel,
    private val cancelled: () -> Boolean,
) {
    private val manifest = model.artifact.manifest

    val golden: List<Golden> get() = manifest.golden

    /** Each one's output at the smallest length that holds it, run when first asked for. */
    val outputs: List<FloatArray> by lazy { golden.map { at(it, model.runner.lengthFor(it.inputIds.size)) } }

    fun at(
        entry: Golden,
        length: Int,
    ): FloatArray {
        stopIfCancelled()
        return model.runner.run(entry.inputIds, entry.tokenTypeIds, length, entry.predict ?: 0)
    }

    /** With arbitrary ids in the padded places, which the mask hides. */
    fun withGarbage(
        entry: Golden,
        length: Int,
    ): FloatArray {
        stopIfCancelled()
        val (count, type) = entry.inputIds.size to entry.tokenTypeIds.max()
        val inputs = model.runner.padded(entry.inputIds, entry.tokenTypeIds, length, entry.predict ?: 0)
        val ids = inputs.getValue(Manifest.INPUT_IDS)
        for (i in count until length) {
            ids[i] = (i - count) % GARBAGE_IDS + 1
            inputs[Manifest.TOKEN_TYPE_IDS]?.set(i, type)
        }
        return model.runner.output(length, inputs, count)
    }

    fun stopIfCancelled() {
        if (cancelled()) throw CancellationException("the self-check was cancelled")
    }

    private companion object {
        const val GARBAGE_IDS = 7
    }
}

/** The values that a manifest lists of an output, row by row. */
internal fun Golden.listed(
    output: FloatArray,
    size: Int,
): FloatArray {
    val rows = rows ?: IntArray(output.size / size) { it }
    val columns = columns ?: IntArray(size) { it }
    return FloatArray(rows.size * columns.size) { output[rows[it / columns.size] * size + columns[it % columns.size]] }
}
