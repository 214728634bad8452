package org.mobilekit.core.measure

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.MobilekitException
import org.mobilekit.core.answer.TextModel
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.artifact.altered
import org.mobilekit.core.check.SelfCheckResult
import org.mobilekit.core.check.selfCheck
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.text.Tokenizer
import java.util.concurrent.CancellationException

/** Inputs as the engine takes them. */
private class Prepared(
    val length: Int,
    val inputs: Map<String, IntArray>,
)

/** A contender while it is measured. What goes wrong with it is its [error], and it is closed. */
internal class Subject(
    val contender: Contender,
    private val protocol: Protocol,
    private val clock: Clock,
    private val cancelled: () -> Boolean,
) : AutoCloseable {
    private val artifact = contender.artifact
    private val manifest = artifact.manifest
    private var model: TextModel? = null
    private var prepared: List<Prepared> = emptyList()
    private val loadMs = mutableListOf<Double>()
    private var memoryUse: MemoryUse? = null
    private var check: SelfCheckResult? = null

    var error: String? = null
        private set

    /** The texts as it reads them, or null for none. */
    var texts: Texts? = null
        private set

    /** Of each work that it did, its rounds. */
    val rounds: MutableMap<String, MutableList<List<Double>>> = LinkedHashMap()

    /** Check its files, load it as often as the protocol says, and check itself. */
    fun open(
        openTokenizer: (Artifact) -> Tokenizer,
        memory: MemoryReader,
    ) = attempt {
        val altered = artifact.altered().filter { it == manifest.file || it == manifest.tokenizer.file }
        if (altered.isNotEmpty()) {
            throw ArtifactException("${altered.joinToString()}: missing or altered since export; copy it again.")
        }
        val tokenizer = openTokenizer(artifact)
        texts = protocol.texts?.forTask(manifest.task, tokenizer.maskToken)
        // Whoever asks for its version loads the library, which is not what is timed.
        contender.library.version
        val idle = memory.read()
        repeat(protocol.loadRepeats) { i ->
            stopIfCancelled()
            model?.close()
            val opened = TextModel(artifact, tokenizer, timed { contender.library.open(artifact, protocol.threads) })
            model = opened
            if (i == 0) memoryUse = usedSince(idle, memory, opened)
        }
        check = model?.let { selfCheck(it, cancelled) }
    }

    private fun timed(load: () -> Engine): Engine {
        val started = clock.nanos()
        return load().also { loadMs += millisecondsSince(started) }
    }

    private fun usedSince(
        idle: Memory?,
        memory: MemoryReader,
        model: TextModel,
    ): MemoryUse? {
        for (entry in manifest.lengths) {
            stopIfCancelled()
            filled(model, entry.length).let { model.engine.run(it.length, it.inputs) }
        }
        val after = memory.read() ?: return null
        return idle?.let {
            MemoryUse(it.residentBytes, after.anonymousBytes - it.anonymousBytes, after.fileBytes - it.fileBytes)
        }
    }

    /** Whether it is there to be measured at a [work], [texts] being those that the protocol has. */
    fun can(
        work: Work,
        texts: Texts?,
    ): Boolean =
        when {
            error != null -> false
            work is Work.Length -> manifest.lengths.any { it.length == work.length }
            else -> texts != null && this.texts?.sha256 == texts.sha256
        }

    /** Make the inputs of a work, which is not timed. */
    fun prepare(work: Work) =
        attempt {
            val model = checkNotNull(model)
            prepared =
                when (work) {
                    is Work.Length -> listOf(filled(model, work.length))
                    Work.Rows -> checkNotNull(texts).items.map { row(model, it) }
                    Work.Pipeline -> emptyList()
                }
            rounds[work.name] = mutableListOf()
        }

    /** One round of a work: runs for as long as a burst lasts, or one pass over the texts, the mean of one. */
    fun burst(work: Work) =
        attempt {
            val model = checkNotNull(model)
            val times =
                when (work) {
                    is Work.Length -> {
                        runs(model, prepared.single())
                    }

                    Work.Rows -> {
                        listOf(prepared.map { time { model.engine.run(it.length, it.inputs) } }.average())
                    }

                    Work.Pipeline -> {
                        listOf(checkNotNull(texts).items.map { time { model.answer(it.text, it.pair) } }.average())
                    }
                }
            rounds.getValue(work.name).add(times)
        }

    /** How much of what the protocol wants of a work is done, 0 to 1. */
    fun share(work: Work): Double {
        val bursts = rounds.getValue(work.name)
        val each = if (work is Work.Length) 1 else checkNotNull(texts).items.size
        val (runs, milliseconds) = each * bursts.sumOf { it.size } to each * bursts.sumOf { it.sum() }
        return minOf(
            bursts.size.toDouble() / Protocol.LEAST_ROUNDS,
            if (runs >= protocol.leastRuns) 1.0 else runs.toDouble() / protocol.leastRuns,
            if (milliseconds >=
                protocol.leastSeconds * SECOND
            ) {
                1.0
            } else {
                milliseconds / (protocol.leastSeconds * SECOND)
            },
        ).coerceAtMost(1.0)
    }

    fun measured(): Measured {
        if (error != null) return Measured(contender, error, emptyList(), emptyMap(), null, null, null, check)

        fun figures(work: Work): Statistics? = rounds[work.name]?.let { Statistics.of(it.flatten()) }
        val lengths = manifest.lengths.mapNotNull { at -> figures(Work.Length(at.length))?.let { at.length to it } }
        return Measured(
            contender = contender,
            error = null,
            loadMs = loadMs,
            lengths = lengths.toMap(),
            textRun = figures(Work.Rows),
            textPipeline = figures(Work.Pipeline),
            memory = memoryUse,
            selfCheck = check,
        )
    }

    /** One run that does not count, as it finds the caches as another left them; then one at least. */
    private fun runs(
        model: TextModel,
        input: Prepared,
    ): List<Double> {
        model.engine.run(input.length, input.inputs)
        val started = clock.nanos()
        val times = mutableListOf<Double>()
        do {
            times += time { model.engine.run(input.length, input.inputs) }
        } while (millisecondsSince(started) < protocol.burstSeconds * SECOND)
        return times
    }

    private fun time(run: () -> Unit): Double {
        stopIfCancelled()
        val started = clock.nanos()
        run()
        return millisecondsSince(started)
    }

    private fun millisecondsSince(nanos: Long): Double = (clock.nanos() - nanos) / NANOS

    /** An input of one length, all tokens real. */
    private fun filled(
        model: TextModel,
        length: Int,
    ): Prepared {
        val ids =
            IntArray(length) {
                manifest.golden
                    .first()
                    .inputIds
                    .first()
            }
        return Prepared(length, model.runner.padded(ids, IntArray(length), length))
    }

    private fun row(
        model: TextModel,
        item: TextItem,
    ): Prepared {
        val encoded = model.encode(item.text, item.pair)
        val length = model.runner.lengthFor(encoded.size)
        return Prepared(length, model.runner.padded(encoded.ids, encoded.typeIds, length))
    }

    private fun stopIfCancelled() {
        if (cancelled()) throw CancellationException("the benchmark was cancelled")
    }

    /** Whatever goes wrong with one contender, the others go on. */
    private fun attempt(step: () -> Unit) {
        try {
            step()
        } catch (cancelled: CancellationException) {
            throw cancelled
        } catch (failure: Exception) {
            fail(failure.message ?: failure.toString())
        } catch (failure: OutOfMemoryError) {
            fail("no memory (${failure.message})")
        }
    }

    private fun fail(reason: String) {
        error = reason
        close()
    }

    /** What was measured holds also where its engine cannot be closed, and the others have to be. */
    override fun close() {
        val left = model ?: return
        model = null
        try {
            left.close()
        } catch (_: MobilekitException) {
            // Nobody can do anything about it here.
        }
    }

    private companion object {
        const val SECOND = 1e3
        const val NANOS = 1e6
    }
}
