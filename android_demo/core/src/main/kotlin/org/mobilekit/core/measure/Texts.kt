package org.mobilekit.core.measure

import org.mobilekit.core.artifact.sha256
import org.mobilekit.core.json.jsonString
import org.mobilekit.core.manifest.Task

/** A text, and its pair or null. */
data class TextItem(
    val text: String,
    val pair: String? = null,
)

/** Texts that come as they come, one at least; [name] says where they are from. */
class Texts(
    val name: String,
    val items: List<TextItem>,
) {
    init {
        require(items.isNotEmpty()) { "$name: has no texts to measure with." }
    }

    /** As a report has it, the same as `bench`'s for the same texts. */
    val sha256: String by lazy {
        val lines = items.joinToString("") { "[${jsonString(it.text)}, ${it.pair?.let(::jsonString)}]\n" }
        sha256(lines.toByteArray())
    }

    /**
     * The same texts as a model of [task] reads them, as `bench` makes them: a question before each, or one [mask].
     *
     * A mask further back may be cut off, and each takes a run of its own.
     */
    fun forTask(
        task: Task,
        mask: String?,
    ): Texts {
        fun one(item: TextItem): TextItem =
            when (task) {
                Task.SEQUENCE_CLASSIFICATION -> item
                Task.QUESTION_ANSWERING -> if (item.pair == null) TextItem(QUESTION, item.text) else item
                Task.FILL_MASK -> TextItem("$mask ${if (mask == null) item.text else item.text.replace(mask, "")}")
                else -> TextItem(item.text)
            }
        return Texts(name, items.map(::one))
    }

    private companion object {
        const val QUESTION = "What is it about?"
    }
}
