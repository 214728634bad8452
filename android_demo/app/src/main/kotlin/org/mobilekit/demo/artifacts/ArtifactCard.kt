package org.mobilekit.demo.artifacts

import android.view.View
import android.view.ViewGroup
import android.widget.TextView
import org.mobilekit.core.check.SelfCheckResult
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifest.Status
import org.mobilekit.demo.R
import org.mobilekit.demo.ui.Numbers
import org.mobilekit.demo.ui.Tone
import org.mobilekit.demo.ui.addPill
import org.mobilekit.demo.ui.names
import org.mobilekit.demo.ui.shown

/** An artifact in a card: what it is, where it runs, and how it is. */
internal class ArtifactCard(
    val view: View,
) {
    private val context = view.context
    private val pills = view.findViewById<ViewGroup>(R.id.pills)

    /** [checked]: what the artifact said of itself, null where it was not asked yet. */
    fun show(
        entry: Entry,
        checked: SelfCheckResult?,
    ) {
        val manifest = entry.manifest
        view.findViewById<TextView>(R.id.name).text = manifest?.model ?: entry.name
        view.findViewById<TextView>(R.id.about).text = about(entry)
        if (manifest != null) {
            pills.addPill(manifest.scheme, Tone.QUIET)
            pills.addPill(context.names.target(manifest.target), Tone.QUIET)
        }
        state(entry, checked)
        view.findViewById<TextView>(R.id.trouble).run {
            shown = entry.trouble != null
            text = entry.trouble
        }
    }

    private fun about(entry: Entry): String {
        val manifest: Manifest? = entry.manifest
        return when {
            manifest != null -> {
                context.getString(
                    R.string.card_about,
                    context.names.task(manifest.task),
                    Numbers.bytes(context, manifest.bytes),
                )
            }

            entry.trouble != null -> {
                context.getString(R.string.card_broken)
            }

            else -> {
                context.getString(R.string.card_packed, Numbers.bytes(context, entry.bytes))
            }
        }
    }

    private fun state(
        entry: Entry,
        checked: SelfCheckResult?,
    ) {
        when {
            entry.trouble != null -> {
                pills.addPill(context.getString(R.string.state_broken), Tone.ERROR)
            }

            entry.manifest?.status == Status.FAILED -> {
                pills.addPill(
                    context.getString(R.string.state_failed),
                    Tone.ERROR,
                )
            }

            checked?.passed == true -> {
                pills.addPill(context.getString(R.string.state_checked), Tone.GOOD)
            }

            checked != null -> {
                pills.addPill(context.getString(R.string.state_check_failed), Tone.ERROR)
            }

            entry.packed -> {
                pills.addPill(context.getString(R.string.state_packed), Tone.QUIET)
            }

            entry.ready -> {
                pills.addPill(context.getString(R.string.state_ready), Tone.GOOD)
            }

            else -> {
                pills.addPill(context.getString(R.string.state_new), Tone.GOOD)
            }
        }
    }
}
