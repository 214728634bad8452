package org.mobilekit.core.answer

/**
 * One part of an answer.
 *
 * [label]: of a text, an entity, a span, or the word found. [score]: probability, or the plain value for regression.
 * [text], [start], [end]: where it stands in the text, as indices of UTF-16 units; null where it is about the whole.
 * [chosen]: whether it belongs to the answer (a label above its threshold, the best of one choice).
 */
data class Item(
    val label: String,
    val score: Double,
    val text: String? = null,
    val start: Int? = null,
    val end: Int? = null,
    val chosen: Boolean = true,
)

/**
 * One text's answer.
 *
 * [items]: labels (best first), entities (in the order of the text), spans or words (best first); none of an embedding.
 * [output]: what the model gave, row by row. [tokens]: how many ids the text became. [truncated]: whether it was cut.
 */
class Answer(
    val text: String,
    val items: List<Item>,
    val output: FloatArray,
    val tokens: Int,
    val truncated: Boolean,
)
