package org.mobilekit.demo.problem

import android.app.Activity
import android.content.Context
import android.content.Intent
import android.os.Bundle
import android.view.View
import android.widget.ImageView
import android.widget.LinearLayout
import android.widget.TextView
import org.mobilekit.core.check.CheckRow
import org.mobilekit.core.check.SelfCheckResult
import org.mobilekit.demo.R
import org.mobilekit.demo.ui.addText
import org.mobilekit.demo.ui.inflate
import org.mobilekit.demo.ui.setScreen
import org.mobilekit.demo.work.Trouble

/** Why an artifact cannot be used, or should not: what was found, against which limit, and what helps. */
class ProblemActivity : Activity() {
    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        val kind = Trouble.Kind.entries.firstOrNull { it.name == intent.getStringExtra(KIND) } ?: Trouble.Kind.APP
        setScreen(R.layout.problem, getString(titleOf(kind)), intent.getStringExtra(ARTIFACT).orEmpty())
        findViewById<TextView>(R.id.what).text = intent.getStringExtra(SAID)
        showChecks()
        val todo = findViewById<LinearLayout>(R.id.todo)
        for ((index, line) in resources.getStringArray(adviceOn(kind)).withIndex()) {
            todo.addText(line, R.style.Text, above = if (index == 0) 0 else BETWEEN)
        }
    }

    private fun showChecks() {
        val checks = findViewById<LinearLayout>(R.id.checks)
        val rows = CheckRows.from(intent)
        if (rows.isEmpty()) checks.visibility = View.GONE
        // What failed is what a person came for.
        for (row in rows.sortedBy { it.passed }) checks.addView(checkView(checks, row))
    }

    private fun checkView(
        checks: LinearLayout,
        row: CheckRow,
    ): View {
        val view = checks.inflate(R.layout.check_row)
        view
            .findViewById<ImageView>(
                R.id.check_icon,
            ).setImageResource(if (row.passed) R.drawable.icon_good else R.drawable.icon_error)
        view.findViewById<TextView>(R.id.check_name).text =
            getString(
                if (row.passed) R.string.check_held else R.string.check_not_held,
                row.name.replaceFirstChar {
                    it.uppercase()
                },
            )
        view.findViewById<TextView>(R.id.check_about).text = row.about
        view.findViewById<TextView>(R.id.check_figures).text =
            getString(R.string.check_figures, row.measured, row.limit)
        return view
    }

    private fun titleOf(kind: Trouble.Kind): Int =
        when (kind) {
            Trouble.Kind.ARTIFACT -> R.string.problem_artifact
            Trouble.Kind.ENGINE -> R.string.problem_engine
            Trouble.Kind.MEMORY -> R.string.problem_memory
            Trouble.Kind.CHECK -> R.string.problem_check
            Trouble.Kind.INPUT, Trouble.Kind.APP -> R.string.problem_other
        }

    private fun adviceOn(kind: Trouble.Kind): Int =
        when (kind) {
            Trouble.Kind.ARTIFACT -> R.array.advice_artifact
            Trouble.Kind.ENGINE -> R.array.advice_engine
            Trouble.Kind.MEMORY -> R.array.advice_memory
            Trouble.Kind.CHECK -> R.array.advice_check
            Trouble.Kind.INPUT, Trouble.Kind.APP -> R.array.advice_other
        }

    companion object {
        private const val ARTIFACT = "artifact"
        private const val KIND = "kind"
        private const val SAID = "said"
        private const val BETWEEN = 10

        /** To explain a [trouble] of the artifact of this name; [checks]: all that were made, where one failed. */
        fun intent(
            context: Context,
            artifact: String,
            trouble: Trouble,
            checks: SelfCheckResult?,
        ): Intent {
            val intent = Intent(context, ProblemActivity::class.java)
            intent.putExtra(ARTIFACT, artifact).putExtra(KIND, trouble.kind.name).putExtra(SAID, trouble.said)
            CheckRows.put(intent, checks?.rows.orEmpty())
            return intent
        }
    }
}
