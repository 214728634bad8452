package org.mobilekit.core.measure

import org.mobilekit.core.FakeEngine
import org.mobilekit.core.FakeLibrary
import org.mobilekit.core.FakeTokenizer
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.artifact.sha256
import org.mobilekit.core.goldenOutput
import org.mobilekit.core.manifestOf
import java.io.File

/** A clock that engines move on. */
class FakeClock : Clock {
    var now = 0L

    override fun nanos(): Long = now

    fun take(milliseconds: Double) {
        now += (milliseconds * 1e6).toLong()
    }
}

/** An artifact's folder whose files have the hashes of its manifest, and no more than these. */
fun folderOf(
    parent: File,
    name: String,
): Artifact {
    val folder = File(parent, name).apply { mkdirs() }
    val (model, tokenizer) = name.toByteArray() to "{}".toByteArray()
    File(folder, "model.tflite").writeBytes(model)
    File(folder, "tokenizer.json").writeBytes(tokenizer)
    val manifest =
        manifestOf(
            "name" to name,
            "sha256" to sha256(model),
            "files" to mapOf("tokenizer.json" to sha256(tokenizer)),
        )
    return Artifact(folder, manifest)
}

/** Engines that take [load] milliseconds to load and [run] a run, by its number and length. */
fun libraryOf(
    clock: FakeClock,
    load: Double = 5.0,
    log: MutableList<String> = mutableListOf(),
    run: (number: Int, length: Int) -> Double,
): FakeLibrary =
    FakeLibrary { artifact ->
        clock.take(load)
        var number = 0
        FakeEngine { length, inputs ->
            clock.take(run(number++, length))
            log += "${artifact.manifest.name} $length"
            goldenOutput(length, inputs)
        }
    }

fun benchmarkOf(
    clock: FakeClock,
    protocol: Protocol,
    memory: MemoryReader = MemoryReader { null },
): Benchmark = Benchmark(protocol, { FakeTokenizer() }, clock, memory)
