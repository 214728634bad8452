package org.mobilekit.demo.artifacts

import android.content.Intent
import android.os.Bundle
import android.view.View
import android.widget.GridLayout
import android.widget.TextView
import org.mobilekit.demo.R
import org.mobilekit.demo.answers.TryActivity
import org.mobilekit.demo.benchmark.BenchmarkActivity
import org.mobilekit.demo.problem.ProblemActivity
import org.mobilekit.demo.ui.addCell
import org.mobilekit.demo.ui.inflate
import org.mobilekit.demo.ui.setScreen
import org.mobilekit.demo.ui.shown
import org.mobilekit.demo.work.SessionActivity
import org.mobilekit.demo.work.Trouble

/** The first screen: which artifacts there are, and how one comes here. */
class ArtifactsActivity : SessionActivity<ArtifactsSession>() {
    override fun newSession(): ArtifactsSession = ArtifactsSession(demo)

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setScreen(
            R.layout.artifacts,
            getString(R.string.app_name),
            getString(R.string.artifacts_subtitle),
            back = false,
        )
        findViewById<TextView>(R.id.push_command).text = getString(R.string.empty_push_command, packageName)
        findViewById<View>(R.id.again).setOnClickListener { session.look() }
        findViewById<View>(R.id.benchmark).setOnClickListener {
            startActivity(Intent(this, BenchmarkActivity::class.java))
        }
        session.watch(::show)
    }

    override fun onStart() {
        super.onStart()
        session.look()
    }

    private fun show(state: ArtifactsState) {
        val entries = state.entries
        findViewById<View>(R.id.loading).shown = entries == null
        findViewById<View>(R.id.empty).shown = entries != null && entries.isEmpty() && state.trouble == null
        findViewById<View>(R.id.benchmark).shown = entries.orEmpty().any { it.trouble == null }
        findViewById<TextView>(R.id.message).run {
            shown = state.trouble != null
            text = state.trouble?.said
        }
        val cards = findViewById<GridLayout>(R.id.cards)
        cards.removeAllViews()
        for (entry in entries.orEmpty()) cards.addCell(card(cards, entry))
    }

    private fun card(
        cards: GridLayout,
        entry: Entry,
    ): View {
        val card = ArtifactCard(cards.inflate(R.layout.artifact_card))
        card.show(entry, entry.manifest?.let { demo.selfChecks[it] })
        card.view.setOnClickListener {
            val trouble = entry.trouble
            if (trouble == null) {
                startActivity(TryActivity.intent(this, entry.name))
            } else {
                startActivity(ProblemActivity.intent(this, entry.name, Trouble(Trouble.Kind.ARTIFACT, trouble), null))
            }
        }
        return card.view
    }
}
