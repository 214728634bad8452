package org.mobilekit.core.text.pattern

import org.mobilekit.core.ArtifactException

/**
 * A regular expression of the few constructs that tokenizers of text models use, matched by backtracking.
 *
 * Android's and the JVM's own expressions differ from each other and from the Oniguruma that the reference library has.
 */
internal class RegexPattern(
    private val source: String,
) : Pattern {
    private val root: Node = RegexParser(source).parse()

    override fun find(
        points: IntArray,
        from: Int,
        to: Int,
        found: (Int, Int) -> Unit,
    ) {
        val run = Run(points, from, to)
        var at = from
        var lastEnd = -1
        while (at <= to) {
            var end = -1
            while (at <= to) {
                if (root.mayBegin(run, at) && root.match(run, at) { stop -> true.also { end = stop } }) break
                at++
            }
            if (at > to) return
            // The library leaves out an empty match where the last one ended.
            if (end == at && end == lastEnd) {
                at++
                continue
            }
            found(at, end)
            at = end
            lastEnd = end
        }
    }

    /** A search: the text, and how much more work may go into it. */
    internal inner class Run(
        val points: IntArray,
        val from: Int,
        val to: Int,
    ) {
        private var steps = STEPS_A_SEARCH + STEPS_A_CHARACTER * (to - from).toLong()

        fun step() {
            if (--steps < 0) throw ArtifactException("regular expression '${source.take(SHOWN)}': takes too long.")
        }
    }

    internal companion object {
        const val STEPS_A_SEARCH = 100_000L
        const val STEPS_A_CHARACTER = 30_000L
        const val SHOWN = 40
    }
}
