package org.mobilekit.core.measure

import org.mobilekit.core.InputException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.manifest.isControl
import org.mobilekit.core.text.Tokenizer

/**
 * Contenders measured in turn in this process (docs/benchmarking.md); blocks its thread until it is done.
 *
 * On a host each has a process of its own; here all are loaded beside each other. [openTokenizer]: reads an artifact's
 * `tokenizer.json`. [memory]: of this process.
 */
class Benchmark(
    private val protocol: Protocol,
    private val openTokenizer: (Artifact) -> Tokenizer,
    private val clock: Clock = Clock(System::nanoTime),
    private val memory: MemoryReader = MemoryReader { null },
) {
    /**
     * Measure all [contenders]; one that fails becomes a row with its error, and the others go on.
     *
     * Artifacts of questions or masked words read other texts than the rest: the texts that most read are timed, by
     * those that read them. [cancelled] is asked between runs; throws [java.util.concurrent.CancellationException]
     * where it was, and [InputException] for names that no report takes; all engines are closed whatever happens.
     */
    fun run(
        contenders: List<Contender>,
        progress: (Progress) -> Unit = {},
        cancelled: () -> Boolean = { false },
    ): BenchmarkResult {
        refuseNames(contenders.map { it.name })
        val subjects = contenders.map { Subject(it, protocol, clock, cancelled) }
        val steps = Steps(progress)
        try {
            subjects.forEachIndexed { i, subject ->
                steps.loading(subject.contender.name, i, subjects.size)
                subject.open(openTokenizer, memory)
            }
            val texts = commonTexts(subjects)
            val works = works(subjects, texts)
            works.forEachIndexed { i, work ->
                val able = subjects.filter { it.can(work, texts) }
                measureInTurn(able, work) { steps.working("${work.doing}, ${able.size} in turn", i + it, works.size) }
            }
            return BenchmarkResult(
                protocol.copy(texts = texts),
                subjects.map { it.measured() },
                ratios(subjects, works),
            )
        } finally {
            subjects.forEach { it.close() }
        }
    }

    private fun refuseNames(names: List<String>) {
        val wrong =
            names.firstOrNull { it.length !in 1..MOST_NAME || it.any(::isControl) }
                ?: names
                    .groupBy { it }
                    .values
                    .firstOrNull { it.size > 1 }
                    ?.first()
        if (wrong != null) throw InputException("'$wrong': names of a report are short, and each is there once.")
    }

    /** As most read them, of as many the first. */
    private fun commonTexts(subjects: List<Subject>): Texts? =
        subjects
            .filter { it.error == null }
            .mapNotNull { it.texts }
            .groupBy { it.sha256 }
            .values
            .maxByOrNull { it.size }
            ?.first()

    private fun works(
        subjects: List<Subject>,
        texts: Texts?,
    ): List<Work> {
        val lengths =
            subjects.flatMap { subject ->
                subject.contender.artifact.manifest.lengths
                    .map { it.length }
            }
        val works = lengths.toSortedSet().map { Work.Length(it) } + listOf(Work.Rows, Work.Pipeline)
        return works.filter { work -> subjects.any { it.can(work, texts) } }
    }

    private fun measureInTurn(
        able: List<Subject>,
        work: Work,
        tell: (share: Double) -> Unit,
    ) {
        able.forEach { it.prepare(work) }
        var round = 0
        while (true) {
            val left = able.filter { it.error == null }
            val share = left.minOfOrNull { it.share(work) } ?: return
            tell(share)
            if (share >= 1.0) return
            // There and back, so that nobody always runs behind the same neighbour.
            (if (round++ % 2 == 0) left else left.reversed()).forEach { it.burst(work) }
        }
    }

    private fun ratios(
        subjects: List<Subject>,
        works: List<Work>,
    ): List<Ratio> {
        val measured = subjects.filter { it.error == null }
        val base = measured.firstOrNull() ?: return emptyList()
        return measured.drop(1).flatMap { subject ->
            works.mapNotNull { work ->
                val (own, other) = listOf(subject, base).map { it.rounds[work.name] }
                if (own == null || other == null) return@mapNotNull null
                ratio(subject.contender.name to own, base.contender.name to other, work.name)
            }
        }
    }

    private companion object {
        const val MOST_NAME = 200
    }
}

/** Tells how far a benchmark is: loading counts for a fifth, as what comes after it is not known yet. */
private class Steps(
    private val tell: (Progress) -> Unit,
) {
    private var share = 0.0

    fun loading(
        name: String,
        number: Int,
        of: Int,
    ) = at("loading $name", LOADING * number / of)

    fun working(
        doing: String,
        number: Double,
        of: Int,
    ) = at(doing, LOADING + (1 - LOADING) * number / of)

    private fun at(
        doing: String,
        reached: Double,
    ) {
        share = maxOf(share, reached)
        tell(Progress(doing, share))
    }

    private companion object {
        const val LOADING = 0.2
    }
}
