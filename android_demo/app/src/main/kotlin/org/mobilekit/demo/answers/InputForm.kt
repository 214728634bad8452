package org.mobilekit.demo.answers

import android.app.Activity
import android.text.InputFilter
import android.view.View
import android.widget.Button
import android.widget.EditText
import android.widget.TextView
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.R
import org.mobilekit.demo.ui.shown

/** The fields to type in, as a task needs them. */
internal class InputForm(
    private val screen: Activity,
    private val ask: (first: String, second: String) -> Unit,
) {
    private val first = screen.findViewById<EditText>(R.id.first)
    private val second = screen.findViewById<EditText>(R.id.second)
    private val run = screen.findViewById<Button>(R.id.run)
    private val example = screen.findViewById<Button>(R.id.example)
    private val mask = screen.findViewById<Button>(R.id.mask)

    init {
        // What is typed is saved when the screen turns, in a parcel that Android lets grow to a megabyte.
        for (field in listOf(first, second)) field.filters = arrayOf(InputFilter.LengthFilter(MOST_CHARACTERS))
        run.setOnClickListener { ask(first.text.toString(), second.text.toString()) }
    }

    /** Show what an artifact asks for; nothing but the first field before it is loaded. */
    fun show(state: TryState) {
        val manifest = state.manifest
        run.isEnabled = manifest != null && !state.asking
        example.isEnabled = manifest != null
        val two = manifest != null && (manifest.task == Task.QUESTION_ANSWERING || takesPairs(manifest))
        second.shown = two
        screen.findViewById<View>(R.id.second_label).shown = two
        mask.shown = state.maskToken != null && manifest?.task == Task.FILL_MASK
        if (manifest == null) return
        screen.findViewById<TextView>(R.id.first_label).setText(firstLabel(manifest.task))
        screen.findViewById<TextView>(R.id.second_label).setText(
            if (manifest.task == Task.QUESTION_ANSWERING) R.string.label_context else R.string.label_second,
        )
        example.setOnClickListener { fill(manifest.task, state.maskToken.orEmpty()) }
        mask.text = screen.getString(R.string.insert_mask, state.maskToken)
        mask.setOnClickListener { insert(state.maskToken.orEmpty()) }
    }

    private fun takesPairs(manifest: Manifest): Boolean =
        manifest.task == Task.SEQUENCE_CLASSIFICATION && manifest.tokenizer.pairTemplate.isNotEmpty()

    private fun fill(
        task: Task,
        maskToken: String,
    ) {
        first.setText(screen.getString(exampleOf(task), maskToken))
        second.setText(if (task == Task.QUESTION_ANSWERING) screen.getString(R.string.example_context) else "")
        first.setSelection(first.length())
    }

    private fun insert(word: String) {
        val from = minOf(first.selectionStart, first.selectionEnd).coerceAtLeast(0)
        val to = maxOf(first.selectionStart, first.selectionEnd).coerceAtLeast(from)
        first.text.replace(from, to, word)
    }

    private fun firstLabel(task: Task): Int =
        when (task) {
            Task.SEQUENCE_CLASSIFICATION, Task.TOKEN_CLASSIFICATION -> R.string.label_text
            Task.QUESTION_ANSWERING -> R.string.label_question
            Task.FILL_MASK -> R.string.label_masked
            Task.SENTENCE_EMBEDDING -> R.string.label_lines
        }

    private fun exampleOf(task: Task): Int =
        when (task) {
            Task.SEQUENCE_CLASSIFICATION -> R.string.example_label
            Task.TOKEN_CLASSIFICATION -> R.string.example_entities
            Task.QUESTION_ANSWERING -> R.string.example_question
            Task.FILL_MASK -> R.string.example_masked
            Task.SENTENCE_EMBEDDING -> R.string.example_lines
        }

    companion object {
        /** Of a field. No model reads as many: what is cut is told with the answer. */
        const val MOST_CHARACTERS = 100_000
    }
}
