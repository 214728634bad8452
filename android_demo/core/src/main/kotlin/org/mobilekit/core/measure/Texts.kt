package org.mobilekit.core.measure

/** A text, and its pair or null. */
data class TextItem(
    val text: String,
    val pair: String? = null,
)

/** Texts that come as they come; [name] says where they are from. */
class Texts(
    val name: String,
    val items: List<TextItem>,
)
