package org.mobilekit.core.manifest

import org.mobilekit.core.json.Field

/** A tensor as a manifest lists it, as far as its rules need it. */
internal class TensorEntry(
    val name: String,
    val shape: List<Dimension>,
    val kind: String,
    val bits: Int,
    val groups: Int?,
    val levels: Int?,
    val codebooks: Int?,
    val static: Boolean,
)

private const val DENSE = "dense"
private const val QUANTIZED = "quantized"
private const val CLUSTERED = "clustered"
private const val MOST_LEVELS = 256
private const val LEAST_SCALE = 0.00006103515625
private const val MOST_SCALE = 65504.0
private const val MOST_BITS = 32
private const val CODE_BITS = 8

internal fun Field.tensors(): List<TensorEntry> = list(least = 1).map { it.tensor() }

/** The precision of tensors, as `export/thresholds.py` takes it. */
internal fun precisionOf(tensors: List<TensorEntry>): Precision {
    val bits = tensors.map { if (it.kind == DENSE) it.bits else CODE_BITS }.toSet()
    return when {
        tensors.any { it.static } -> Precision.STATIC
        bits.all { it == Float.SIZE_BITS } -> Precision.SINGLE
        bits.all { it == Float.SIZE_BITS || it == Short.SIZE_BITS } -> Precision.HALF
        else -> Precision.QUANTIZED
    }
}

private fun Field.tensor(): TensorEntry {
    val found =
        members(
            setOf("name", "shape", "kind", "bits", "bytes", "sha256"),
            setOf("groups", "levels", "codebooks", "activations"),
        )
    found("bytes").whole(0, Field.MOST)
    found("sha256").members().values.forEach { it.sha256() }
    found["activations"]?.members(setOf("input", "output"))?.values?.forEach { it.activation() }
    val entry =
        TensorEntry(
            name = found("name").text(),
            shape = found("shape").shape(),
            kind = found("kind").choice(setOf(DENSE, QUANTIZED, CLUSTERED)),
            bits = found("bits").int(1, MOST_BITS),
            groups = found["groups"]?.int(1),
            levels = found["levels"]?.int(2, MOST_LEVELS),
            codebooks = found["codebooks"]?.int(1),
            static = found["activations"] != null,
        )
    entry.contradiction()?.let { fail(it) }
    return entry
}

private fun Field.activation() {
    val found = members(setOf("scale", "zero_point"))
    found("scale").number(LEAST_SCALE, MOST_SCALE)
    found("zero_point").int(Byte.MIN_VALUE.toInt(), Byte.MAX_VALUE.toInt())
}

private fun TensorEntry.contradiction(): String? {
    val matrix = shape.size == 2 && bits <= CODE_BITS
    if (shape.any { it.size == null } || (kind != DENSE && !matrix)) return "$kind of such shape and bits cannot be"
    val rows = shape.firstOrNull()?.size ?: 0
    return when {
        kind != QUANTIZED && (groups != null || levels != null) -> "groups and levels do not fit $kind"
        kind != CLUSTERED && codebooks != null -> "codebooks do not fit $kind"
        kind == CLUSTERED && (codebooks == null || rows % codebooks != 0) -> "its codebooks do not divide $rows rows"
        else -> null
    }
}
