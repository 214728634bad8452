package org.mobilekit.core.engine

import org.mobilekit.core.EngineException
import org.mobilekit.core.MobilekitException
import org.mobilekit.core.artifact.Artifact

/**
 * What all engines have in common: inputs and outputs are what the manifest says, a closed engine runs nothing, and
 * whatever the library throws becomes an [EngineException].
 *
 * A run and a close that meet wait for each other: a library whose memory is freed while it runs ends the process.
 */
abstract class GuardedEngine(
    artifact: Artifact,
) : Engine {
    private val manifest = artifact.manifest
    private val file = artifact.modelFile
    private val entries = manifest.lengths.associate { it.length to it.entry }
    private var closed = false

    /**
     * Run [entry] on [inputs], each [length] values, by name in the manifest's order; each output by name.
     *
     * Whatever it throws becomes an [EngineException], where it is none already.
     */
    protected abstract fun invoke(
        entry: String,
        length: Int,
        inputs: Map<String, IntArray>,
    ): Map<String, FloatArray>

    /** Free the model's memory; called once. */
    protected abstract fun free()

    @Synchronized
    final override fun run(
        length: Int,
        inputs: Map<String, IntArray>,
    ): Map<String, FloatArray> {
        if (closed) throw EngineException("$file: the model was closed; open it again.")
        val entry = entries[length] ?: throw EngineException("$file: length $length was not exported.")
        val ordered = manifest.inputs.associate { it.name to inputs.rows(it.name, length) }
        val outputs = guarded("$file: it did not run") { invoke(entry, length, ordered) }
        for (port in manifest.outputs) {
            val wanted = port.size(length)
            val size = outputs[port.name]?.size
            if (size != wanted) {
                throw EngineException("$file: ${port.name} has ${size ?: "no"} values, not $wanted; export it again.")
            }
        }
        return outputs
    }

    @Synchronized
    final override fun close() {
        if (closed) return
        closed = true
        guarded("$file: it could not be closed") { free() }
    }

    private fun Map<String, IntArray>.rows(
        name: String,
        length: Int,
    ): IntArray {
        val values = this[name] ?: throw EngineException("$file: the input $name is missing.")
        if (values.size != length) {
            throw EngineException("$file: the input $name has ${values.size} values, not $length.")
        }
        return values
    }
}

/**
 * What [call] gives; whatever goes wrong in it becomes an [EngineException] that begins with [what].
 *
 * Also a library that is not there for this processor, and memory that is not there: an app shows a message for each.
 */
inline fun <T> guarded(
    what: String,
    call: () -> T,
): T =
    try {
        call()
    } catch (error: MobilekitException) {
        throw error
    } catch (error: OutOfMemoryError) {
        throw EngineException("$what: there is not enough memory; close other apps or take a smaller model.", error)
    } catch (error: LinkageError) {
        throw EngineException(
            "$what: the engine's library is not in this app, or not for its processor ($error).",
            error,
        )
    } catch (
        // Engines throw what they like, and an app has to outlive it.
        @Suppress("TooGenericExceptionCaught") error: Exception,
    ) {
        throw EngineException("$what: ${error.message?.lines()?.firstOrNull { it.isNotBlank() } ?: error}", error)
    }
