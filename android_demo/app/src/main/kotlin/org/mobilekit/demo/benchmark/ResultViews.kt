package org.mobilekit.demo.benchmark

import android.view.View
import android.view.ViewGroup
import android.widget.Button
import android.widget.GridLayout
import android.widget.LinearLayout
import android.widget.TextView
import org.mobilekit.core.measure.Measured
import org.mobilekit.core.measure.Statistics
import org.mobilekit.demo.R
import org.mobilekit.demo.problem.ProblemActivity
import org.mobilekit.demo.ui.Numbers
import org.mobilekit.demo.ui.Tone
import org.mobilekit.demo.ui.addBar
import org.mobilekit.demo.ui.addCell
import org.mobilekit.demo.ui.addPill
import org.mobilekit.demo.ui.addText
import org.mobilekit.demo.ui.inflate
import org.mobilekit.demo.ui.names
import org.mobilekit.demo.work.Trouble

/** Draws what a benchmark found: who is fastest in bars, then every figure of each artifact. */
internal class ResultViews(
    private val into: LinearLayout,
    private val share: () -> Unit,
) {
    private val context = into.context

    /** Draw them in place of the last ones. */
    fun show(finished: Finished) {
        into.removeAllViews()
        into.addText(context.getString(R.string.results), R.style.Text_Section)
        val cards = GridLayout(context)
        cards.columnCount = context.resources.getInteger(R.integer.card_columns)
        val measured = finished.result.measured.filter { it.error == null }
        if (measured.size > 1) cards.addCell(comparison(measured))
        for (each in finished.result.measured) cards.addCell(card(each))
        for ((name, why) in finished.unusable) cards.addCell(unusable(name, why))
        val size = LinearLayout.LayoutParams(ViewGroup.LayoutParams.MATCH_PARENT, ViewGroup.LayoutParams.WRAP_CONTENT)
        val outset = context.resources.getDimensionPixelOffset(R.dimen.grid_outset)
        size.setMargins(outset, context.resources.getDimensionPixelSize(R.dimen.flow_gap), outset, 0)
        into.addView(cards, size)
        val button = into.inflate(R.layout.share_button) as Button
        button.setOnClickListener { share() }
        into.addView(button)
    }

    private fun comparison(measured: List<Measured>): View {
        val card = newCard()
        val length = measured.flatMap { it.lengths.keys }.maxOrNull() ?: return card
        val times = measured.mapNotNull { each -> each.lengths[length]?.let { each to it.middle80MeanMs } }
        val slowest = times.maxOfOrNull { it.second } ?: return card
        val fastest = times.minOf { it.second }
        card.addText(context.getString(R.string.fastest, length), R.style.Text_Title)
        for ((each, time) in times.sortedBy { it.second }) {
            card.addBar(title(each), Numbers.milliseconds(context, time), time / slowest, time == fastest)
        }
        return card
    }

    private fun card(measured: Measured): View {
        val card = newCard()
        card.addText(title(measured), R.style.Text_Title)
        val error = measured.error
        if (error != null) {
            card.addText(error, R.style.Text_Secondary, above = LINE).setTextColor(context.getColor(R.color.error))
            return card
        }
        selfCheck(card, measured)
        if (measured.loadMs.isNotEmpty()) {
            row(
                card,
                context.getString(R.string.row_load),
                Numbers.milliseconds(context, Statistics.of(measured.loadMs).medianMs),
            )
        }
        for ((length, times) in measured.lengths) {
            row(
                card,
                context.getString(R.string.row_length, length),
                figures(times),
            )
        }
        measured.textRun?.let { row(card, context.getString(R.string.row_text_run), figures(it)) }
        measured.textPipeline?.let { row(card, context.getString(R.string.row_text), figures(it)) }
        measured.memory?.let {
            row(card, context.getString(R.string.row_memory), Numbers.bytes(context, it.anonymousBytes))
            row(card, context.getString(R.string.row_mapped), Numbers.bytes(context, it.fileBytes))
        }
        return card
    }

    private fun selfCheck(
        card: ViewGroup,
        measured: Measured,
    ) {
        val result = measured.selfCheck ?: return
        val pills = card.inflate(R.layout.pills) as ViewGroup
        pills.addPill(
            context.getString(if (result.passed) R.string.state_checked else R.string.state_check_failed),
            if (result.passed) Tone.GOOD else Tone.ERROR,
        )
        card.addView(pills)
        if (result.passed) return
        val trouble = Trouble(Trouble.Kind.CHECK, context.getString(R.string.check_failed))
        card.contentDescription = context.getString(R.string.banner_why, "${title(measured)}: ${trouble.said}")
        card.setBackgroundResource(R.drawable.card_touch)
        card.setOnClickListener {
            context.startActivity(ProblemActivity.intent(context, measured.contender.name, trouble, result))
        }
    }

    private fun unusable(
        name: String,
        why: String,
    ): View {
        val card = newCard()
        card.addText(name, R.style.Text_Title)
        card.addText(why, R.style.Text_Secondary, above = LINE).setTextColor(context.getColor(R.color.error))
        return card
    }

    private fun row(
        card: ViewGroup,
        label: String,
        value: String,
    ) {
        val row = card.inflate(R.layout.result_row)
        row.findViewById<TextView>(R.id.row_label).text = label
        row.findViewById<TextView>(R.id.row_value).text = value
        card.addView(row)
    }

    private fun figures(times: Statistics): String =
        context.getString(
            R.string.row_times,
            Numbers.milliseconds(context, times.middle80MeanMs),
            Numbers.milliseconds(context, times.p90Ms),
        )

    private fun title(measured: Measured): String {
        val manifest = measured.contender.artifact.manifest
        return context.getString(R.string.pick_title, manifest.name, context.names.target(manifest.target))
    }

    private fun newCard(): LinearLayout = into.inflate(R.layout.result_card) as LinearLayout

    private companion object {
        const val LINE = 4
    }
}
