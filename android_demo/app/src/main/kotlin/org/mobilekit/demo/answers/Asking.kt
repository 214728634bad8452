package org.mobilekit.demo.answers

import android.content.res.Resources
import org.mobilekit.core.InputException
import org.mobilekit.core.answer.Answer
import org.mobilekit.core.answer.cosines
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.R
import org.mobilekit.demo.models.LoadedModel

/** Puts what a person typed to a model. */
internal class Asking(
    private val resources: Resources,
    private val model: LoadedModel,
) {
    private val manifest = model.text.artifact.manifest

    /** Throws what [org.mobilekit.core.answer.TextModel.answer] throws, and [InputException] where nothing was typed. */
    fun ask(
        first: String,
        second: String,
    ): Outcome {
        val tokenizing = model.tokenizingMs
        val running = model.runningMs
        val started = System.nanoTime()
        val answers = answers(first, second)
        val embeddings = manifest.task == Task.SENTENCE_EMBEDDING
        val cosines = if (embeddings) cosines(answers.map { it.output }) else emptyList()
        val whole = (System.nanoTime() - started) / NANOS
        return Outcome(
            manifest,
            answers,
            if (manifest.task == Task.QUESTION_ANSWERING) second else first,
            cosines,
            model.tokenizingMs - tokenizing,
            model.runningMs - running,
            whole,
        )
    }

    private fun answers(
        first: String,
        second: String,
    ): List<Answer> {
        if (first.isBlank()) throw InputException(resources.getString(R.string.type_first))
        return when (manifest.task) {
            Task.SENTENCE_EMBEDDING -> {
                lines(first).map { model.text.answer(it) }
            }

            Task.QUESTION_ANSWERING -> {
                if (second.isBlank()) throw InputException(resources.getString(R.string.type_context))
                listOf(model.text.answer(first, second))
            }

            else -> {
                listOf(model.text.answer(first, second.ifBlank { null }))
            }
        }
    }

    private fun lines(text: String): List<String> {
        val lines =
            text
                .lineSequence()
                .filter { it.isNotBlank() }
                .map { it.trim() }
                .toList()
        if (lines.size <= MOST_LINES) return lines
        throw InputException(resources.getString(R.string.too_many_lines, lines.size, MOST_LINES))
    }

    companion object {
        /** As many lines are compared with each other as a screen can show. */
        const val MOST_LINES = 50
        private const val NANOS = 1e6
    }
}
