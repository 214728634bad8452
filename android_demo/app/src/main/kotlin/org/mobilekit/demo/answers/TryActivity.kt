package org.mobilekit.demo.answers

import android.content.Context
import android.content.Intent
import android.os.Bundle
import android.view.View
import android.widget.LinearLayout
import android.widget.ProgressBar
import android.widget.TextView
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.demo.R
import org.mobilekit.demo.problem.ProblemActivity
import org.mobilekit.demo.ui.Numbers
import org.mobilekit.demo.ui.addFigure
import org.mobilekit.demo.ui.names
import org.mobilekit.demo.ui.said
import org.mobilekit.demo.ui.setHeader
import org.mobilekit.demo.ui.setScreen
import org.mobilekit.demo.ui.shown
import org.mobilekit.demo.work.SessionActivity
import org.mobilekit.demo.work.Trouble

/** Type a text, see what one artifact makes of it, and how long that takes. */
class TryActivity : SessionActivity<TrySession>() {
    private lateinit var form: InputForm
    private lateinit var answers: AnswerViews

    // Drawn when it changes; or every change of state would take the screen reader and the eye back to the top.
    private var drawn: Outcome? = null

    private val artifact: String get() = intent.getStringExtra(ARTIFACT).orEmpty()

    override fun newSession(): TrySession = TrySession(demo, artifact)

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setScreen(R.layout.answering, artifact)
        form = InputForm(this, session::ask)
        answers = AnswerViews(findViewById(R.id.answer))
        session.watch(::show)
    }

    private fun show(state: TryState) {
        state.manifest?.let { setHeader(it.model, about(it)) }
        form.show(state)
        showWork(state)
        showBanner(state)
        findViewById<TextView>(R.id.message).run {
            shown = state.trouble != null
            text = state.trouble?.said
        }
        val outcome = state.outcome
        findViewById<View>(R.id.answer).shown = outcome != null
        findViewById<View>(R.id.timings).shown = outcome != null
        if (outcome != null && outcome !== drawn) {
            answers.show(outcome)
            showTimes(outcome, state.loadMs)
        }
        drawn = outcome
    }

    private fun about(manifest: Manifest): String =
        getString(
            R.string.try_about,
            names.task(manifest.task),
            manifest.scheme,
            names.target(manifest.target),
            Numbers.bytes(this, manifest.bytes),
        )

    private fun showWork(state: TryState) {
        val words = state.opening ?: if (state.asking) getString(R.string.asking) else null
        findViewById<View>(R.id.working).shown = words != null
        findViewById<TextView>(R.id.working_text).said = words
        findViewById<ProgressBar>(R.id.working_bar).run {
            isIndeterminate = state.share == null
            progress = ((state.share ?: 0.0) * max).toInt()
        }
    }

    private fun showBanner(state: TryState) {
        val failed = state.selfCheck?.takeIf { !it.passed }
        val banner = findViewById<View>(R.id.banner)
        banner.shown = state.refused != null || failed != null
        val trouble =
            state.refused ?: failed?.let { Trouble(Trouble.Kind.CHECK, getString(R.string.check_failed)) } ?: return
        findViewById<TextView>(R.id.banner_text).text = getString(R.string.banner_why, trouble.said)
        banner.setOnClickListener { startActivity(ProblemActivity.intent(this, artifact, trouble, failed)) }
    }

    private fun showTimes(
        outcome: Outcome,
        loadMs: Double,
    ) {
        findViewById<LinearLayout>(R.id.figures).run {
            removeAllViews()
            addFigure(Numbers.milliseconds(context, outcome.tokenizingMs), getString(R.string.tokenizing))
            addFigure(Numbers.milliseconds(context, outcome.runningMs), getString(R.string.running))
            addFigure(Numbers.milliseconds(context, outcome.wholeMs), getString(R.string.whole))
        }
        val tokens = outcome.answers.sumOf { it.tokens }
        val said = resources.getQuantityString(R.plurals.tokens, tokens, tokens)
        val cut = outcome.answers.any { it.truncated }
        val read = if (cut) getString(R.string.tokens_cut, said, outcome.manifest.maxLength) else said
        findViewById<TextView>(R.id.note).text = getString(R.string.loaded_in, read, Numbers.milliseconds(this, loadMs))
    }

    companion object {
        private const val ARTIFACT = "artifact"

        /** To try the artifact of this name. */
        fun intent(
            context: Context,
            artifact: String,
        ): Intent = Intent(context, TryActivity::class.java).putExtra(ARTIFACT, artifact)
    }
}
