package org.mobilekit.demo.benchmark

import android.os.Bundle
import android.view.View
import android.view.WindowManager
import android.widget.Button
import android.widget.CheckBox
import android.widget.GridLayout
import android.widget.ProgressBar
import android.widget.RadioButton
import android.widget.RadioGroup
import android.widget.TextView
import org.mobilekit.demo.R
import org.mobilekit.demo.artifacts.Entry
import org.mobilekit.demo.report.Heat
import org.mobilekit.demo.report.Reports
import org.mobilekit.demo.ui.addCell
import org.mobilekit.demo.ui.dp
import org.mobilekit.demo.ui.names
import org.mobilekit.demo.ui.said
import org.mobilekit.demo.ui.setScreen
import org.mobilekit.demo.ui.shown
import org.mobilekit.demo.work.SessionActivity

/** Pick artifacts, measure them on this phone, and share the report. */
class BenchmarkActivity : SessionActivity<BenchmarkSession>() {
    private val heat by lazy { Heat(this) }
    private val lookAgain = Runnable { showHeat() }
    private lateinit var results: ResultViews

    // Drawn when they change; a progress bar alone moves many times a second.
    private var drawnEntries: List<Entry>? = null
    private var drawnResult: Finished? = null

    override fun newSession(): BenchmarkSession = BenchmarkSession(demo)

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setScreen(R.layout.benchmark, getString(R.string.benchmark_title), getString(R.string.benchmark_subtitle))
        results =
            ResultViews(findViewById(R.id.results)) {
                session.state.file?.let { file -> startActivity(Reports.share(this, file)) }
            }
        findViewById<View>(R.id.start).setOnClickListener { session.start() }
        findViewById<View>(R.id.cancel).setOnClickListener { session.cancel() }
        showThreads()
        session.watch(::show)
    }

    override fun onStart() {
        super.onStart()
        showHeat()
    }

    override fun onStop() {
        findViewById<View>(R.id.hot).removeCallbacks(lookAgain)
        if (!isChangingConfigurations) session.leave()
        super.onStop()
    }

    private fun show(state: BenchmarkState) {
        showPicks(state)
        findViewById<Button>(R.id.start).isEnabled = state.picked.isNotEmpty()
        findViewById<View>(R.id.setup).shown = state.progress == null
        showProgress(state)
        findViewById<TextView>(R.id.message).run {
            shown = state.trouble != null
            text = state.trouble?.said
        }
        findViewById<View>(R.id.results).shown = state.finished != null
        val finished = state.finished
        if (finished != null && finished !== drawnResult) results.show(finished)
        drawnResult = finished
    }

    private fun showProgress(state: BenchmarkState) {
        val progress = state.progress
        findViewById<View>(R.id.progress).shown = progress != null
        findViewById<TextView>(R.id.doing).said = progress?.doing?.replaceFirstChar { it.uppercase() }
        findViewById<ProgressBar>(R.id.share).run { this.progress = ((progress?.share ?: 0.0) * max).toInt() }
        // A phone that falls asleep measures nothing.
        if (progress != null) {
            window.addFlags(WindowManager.LayoutParams.FLAG_KEEP_SCREEN_ON)
        } else {
            window.clearFlags(WindowManager.LayoutParams.FLAG_KEEP_SCREEN_ON)
        }
    }

    private fun showPicks(state: BenchmarkState) {
        val entries = state.entries ?: return
        if (entries === drawnEntries) return
        drawnEntries = entries
        val picks = findViewById<GridLayout>(R.id.picks)
        picks.removeAllViews()
        for (entry in entries) {
            val box = CheckBox(this)
            box.text = title(entry)
            box.minHeight = resources.getDimensionPixelSize(R.dimen.touch)
            box.setTextAppearance(R.style.Text)
            box.isSaveEnabled = false
            box.isChecked = entry.name in state.picked
            box.setOnCheckedChangeListener { _, wanted -> session.pick(entry.name, wanted) }
            picks.addCell(box, below = 0)
        }
    }

    private fun title(entry: Entry): String {
        val manifest = entry.manifest ?: return entry.name
        return getString(R.string.pick_title, manifest.name, names.target(manifest.target))
    }

    private fun showThreads() {
        val group = findViewById<RadioGroup>(R.id.threads)
        val most = Runtime.getRuntime().availableProcessors()
        for (count in listOf(1, 2, 4, 8).filter { it <= maxOf(most, BenchmarkState.DEFAULT_THREADS) }) {
            val choice = RadioButton(this)
            choice.id = View.generateViewId()
            choice.text = count.toString()
            choice.contentDescription = resources.getQuantityString(R.plurals.threads_spoken, count, count)
            choice.setTextAppearance(R.style.Text)
            choice.minHeight = resources.getDimensionPixelSize(R.dimen.touch)
            choice.setPaddingRelative(0, 0, group.dp(THREADS_APART), 0)
            choice.isSaveEnabled = false
            group.addView(choice)
            if (count == session.state.threads) group.check(choice.id)
            choice.setOnClickListener { session.threads(count) }
        }
    }

    /** Looks again now and then: Android's listener for it is an error on phones that do not measure. */
    private fun showHeat() {
        val banner = findViewById<View>(R.id.hot)
        banner.shown = heat.hot
        findViewById<TextView>(R.id.hot_text).said = getString(R.string.hot, heat.status)
        banner.postDelayed(lookAgain, HEAT_MS)
    }

    private companion object {
        const val HEAT_MS = 2_000L
        const val THREADS_APART = 28
    }
}
