package org.mobilekit.demo.ui

import android.content.Context
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.R

/** What things of a manifest are called on a screen. */
internal class Names(
    private val context: Context,
) {
    /** Of what a model answers. */
    fun task(task: Task): String =
        context.getString(
            when (task) {
                Task.SEQUENCE_CLASSIFICATION -> R.string.task_labels
                Task.TOKEN_CLASSIFICATION -> R.string.task_entities
                Task.QUESTION_ANSWERING -> R.string.task_questions
                Task.FILL_MASK -> R.string.task_masks
                Task.SENTENCE_EMBEDDING -> R.string.task_embeddings
            },
        )

    /** Of the engine that a target's files are for. */
    fun target(target: String): String =
        when (target) {
            "tflite" -> "LiteRT"
            "executorch" -> "ExecuTorch"
            "coreml" -> "Core ML"
            else -> target
        }
}

/** Names in the language of this screen. */
internal val Context.names: Names get() = Names(this)
