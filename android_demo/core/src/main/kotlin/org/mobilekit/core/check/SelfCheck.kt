package org.mobilekit.core.check

import org.mobilekit.core.answer.TextModel
import org.mobilekit.core.manifest.Golden
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifest.Task
import java.util.concurrent.CancellationException

/**
 * Whether an artifact works on this device, from its manifest alone (docs/checks.md).
 *
 * [cancelled] is asked between runs; throws [CancellationException] where it was, and nothing else: what
 * fails is a row.
 */
fun selfCheck(
    model: TextModel,
    cancelled: () -> Boolean = { false },
): SelfCheckResult {
    val runs = GoldenRuns(model, cancelled)
    val manifest = model.artifact.manifest
    val checks =
        listOf<Pair<String, () -> CheckRow>>(
            "tokenizer" to { checkTokenizer(model, runs) },
            "output" to { checkOutput(manifest, runs.outputs) },
            "padding" to { checkPadding(manifest, runs) },
            "constant" to { checkConstant(manifest, runs) },
        )
    return SelfCheckResult(
        checks.map { (name, check) ->
            try {
                check()
            } catch (error: CancellationException) {
                throw error
            } catch (error: Exception) {
                // Whatever a file makes of a check, it did not hold.
                failed(name, error.message ?: error.toString())
            } catch (error: OutOfMemoryError) {
                failed(name, "there is not enough memory")
            }
        },
    )
}

private fun failed(
    name: String,
    why: String,
): CheckRow = CheckRow(name, "the check itself failed", false, "error: $why", "")

private fun checkTokenizer(
    model: TextModel,
    runs: GoldenRuns,
): CheckRow {
    val manifest = model.artifact.manifest
    val wrong =
        runs.golden.count { entry ->
            runs.stopIfCancelled()
            val limit = minOf(entry.length, manifest.maxLength)
            val found = model.tokenizer.encode(manifest.tokenizer.prefix + entry.text, entry.textPair, limit)
            !found.ids.contentEquals(entry.inputIds) || !found.typeIds.contentEquals(entry.tokenTypeIds)
        }
    val about = "tokens of ${runs.golden.size} texts, against those that the model was exported with"
    return CheckRow("tokenizer", about, wrong == 0, if (wrong == 0) "equal" else "$wrong differ", "equal")
}

private fun checkPadding(
    manifest: Manifest,
    runs: GoldenRuns,
): CheckRow {
    val limit = paddingLimit(manifest.precision, largestOf(runs.golden))
    val width = manifest.outputSize
    var (tried, flips) = 0 to 0
    var worst = 0.0
    for ((entry, base) in runs.golden.zip(runs.outputs)) {
        for (other in padded(manifest, runs, entry)) {
            tried++
            worst = maxOf(worst, difference(base, other))
            if (manifest.task == Task.SENTENCE_EMBEDDING) continue
            val (one, two) = listOf(base, other).map { it.doubles().asList().chunked(width) }
            flips += one.indices.count { flipped(one[it].toDoubleArray(), two[it].toDoubleArray(), limit) }
        }
    }
    val about = "the same texts with more padding, and with other tokens in its place"
    val said = "%.1e in %d runs".plain(worst, tried) + changed(flips)
    return CheckRow("padding", about, worst <= limit && flips == 0, said, "<= ${shortly(limit)}")
}

/** With anything in the padded places, where the mask is an input, and through the next longer length. */
private fun padded(
    manifest: Manifest,
    runs: GoldenRuns,
    entry: Golden,
): List<FloatArray> {
    val masked = manifest.inputs.any { it.name == Manifest.ATTENTION_MASK }
    val own = manifest.lengths.first { it.length >= entry.inputIds.size }.length
    val longer = manifest.lengths.firstOrNull { it.length > own }?.length
    val found = mutableListOf<FloatArray>()
    if (longer != null) found += runs.at(entry, longer)
    val place = longer ?: own
    if (masked && place > entry.inputIds.size) found += runs.withGarbage(entry, place)
    return found
}

private fun checkConstant(
    manifest: Manifest,
    runs: GoldenRuns,
): CheckRow {
    // Of what has a row for each token the first, whose states have seen all others; runs are finite, or they fail.
    val rows = runs.outputs.map { it.copyOf(manifest.outputSize) }
    val range = (0 until manifest.outputSize).maxOf { k -> rows.maxOf { it[k] }.toDouble() - rows.minOf { it[k] } }
    val passed = rows.size < 2 || range >= CONSTANT
    val said = if (passed) "finite, and they differ" else "the same for all"
    val about = "whether outputs are numbers, and not the same for every text"
    return CheckRow("constant", about, passed, said, "finite, not constant")
}
