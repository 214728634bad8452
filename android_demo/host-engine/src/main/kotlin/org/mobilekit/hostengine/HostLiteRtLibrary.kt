package org.mobilekit.hostengine

import org.bytedeco.javacpp.FloatPointer
import org.bytedeco.javacpp.IntPointer
import org.bytedeco.javacpp.Pointer
import org.bytedeco.tensorflowlite.TfLiteInterpreter
import org.bytedeco.tensorflowlite.TfLiteModel
import org.bytedeco.tensorflowlite.TfLiteSignatureRunner
import org.bytedeco.tensorflowlite.TfLiteTensor
import org.bytedeco.tensorflowlite.global.tensorflowlite
import org.mobilekit.core.EngineException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.engine.EngineLibrary
import org.mobilekit.core.engine.GuardedEngine
import org.mobilekit.core.engine.guarded

/**
 * TensorFlow Lite's C library, with XNNPACK as its default delegate, on x86-64 Linux.
 *
 * In place of `LiteRtLibrary` in tests: the same files, signatures and kernels, without Android. The
 * library writes the reason of an error to the standard error stream; it cannot be had as a text here.
 */
class HostLiteRtLibrary : EngineLibrary {
    override val name: String = "litert"

    override val version: String
        get() = tensorflowlite.TfLiteVersion().string

    override val targets: Set<String> = setOf("tflite")

    override fun open(
        artifact: Artifact,
        threads: Int,
    ): Engine =
        guarded("${artifact.modelFile}: TensorFlow Lite cannot open it") {
            val file = artifact.modelFile
            val model = present(tensorflowlite.TfLiteModelCreateFromFile(file.path)) { "$file: it is no TFLite model." }
            try {
                HostLiteRtEngine(artifact, model, interpreter(artifact, model, threads))
            } catch (error: EngineException) {
                tensorflowlite.TfLiteModelDelete(model)
                throw error
            }
        }

    private fun interpreter(
        artifact: Artifact,
        model: TfLiteModel,
        threads: Int,
    ): TfLiteInterpreter {
        val options = tensorflowlite.TfLiteInterpreterOptionsCreate()
        tensorflowlite.TfLiteInterpreterOptionsSetNumThreads(options, threads)
        val made = tensorflowlite.TfLiteInterpreterCreate(model, options)
        tensorflowlite.TfLiteInterpreterOptionsDelete(options)
        val interpreter = present(made) { "${artifact.modelFile}: TensorFlow Lite $version refuses it." }
        // The delegate takes the graphs over here: one that cannot run fails now and not at its first call.
        if (tensorflowlite.TfLiteInterpreterAllocateTensors(interpreter) != tensorflowlite.kTfLiteOk) {
            tensorflowlite.TfLiteInterpreterDelete(interpreter)
            throw EngineException("${artifact.modelFile}: TensorFlow Lite $version cannot run it.")
        }
        return interpreter
    }
}

private class HostLiteRtEngine(
    private val artifact: Artifact,
    private val model: TfLiteModel,
    private val interpreter: TfLiteInterpreter,
) : GuardedEngine(artifact) {
    private val runners = HashMap<String, TfLiteSignatureRunner>()

    override fun invoke(
        entry: String,
        length: Int,
        inputs: Map<String, IntArray>,
    ): Map<String, FloatArray> {
        val runner = runners.getOrPut(entry) { runner(entry) }
        for ((name, values) in inputs) {
            val tensor = tensorflowlite.TfLiteSignatureRunnerGetInputTensor(runner, name)
            IntPointer(*values).use { copied ->
                require(tensor, name) { tensorflowlite.TfLiteTensorCopyFromBuffer(it, copied, Int.SIZE_BYTES * copied.limit()) }
            }
        }
        if (tensorflowlite.TfLiteSignatureRunnerInvoke(runner) != tensorflowlite.kTfLiteOk) {
            throw EngineException("${artifact.modelFile}: $entry failed.")
        }
        return artifact.manifest.outputs.associate { port ->
            val values = FloatArray(port.size(length))
            val tensor = tensorflowlite.TfLiteSignatureRunnerGetOutputTensor(runner, port.name)
            FloatPointer(values.size.toLong()).use { copied ->
                require(tensor, port.name) {
                    tensorflowlite.TfLiteTensorCopyToBuffer(it, copied, Float.SIZE_BYTES * copied.limit())
                }
                copied.get(values)
            }
            port.name to values
        }
    }

    override fun free() {
        runners.values.forEach(tensorflowlite::TfLiteSignatureRunnerDelete)
        tensorflowlite.TfLiteInterpreterDelete(interpreter)
        tensorflowlite.TfLiteModelDelete(model)
    }

    private fun runner(entry: String): TfLiteSignatureRunner {
        val found = tensorflowlite.TfLiteInterpreterGetSignatureRunner(interpreter, entry)
        val runner = present(found) { "${artifact.modelFile}: it has no signature $entry." }
        if (tensorflowlite.TfLiteSignatureRunnerAllocateTensors(runner) != tensorflowlite.kTfLiteOk) {
            throw EngineException("${artifact.modelFile}: $entry could not be prepared.")
        }
        return runner
    }

    /** [copy] is of a tensor that is there, and as large as the manifest says. */
    private fun require(
        tensor: TfLiteTensor?,
        name: String,
        copy: (TfLiteTensor) -> Int,
    ) {
        val there = present(tensor) { "${artifact.modelFile}: it has no $name." }
        if (copy(there) != tensorflowlite.kTfLiteOk) throw EngineException("${artifact.modelFile}: $name has another size.")
    }
}

private inline fun <T : Pointer> present(
    pointer: T?,
    message: () -> String,
): T = if (pointer == null || pointer.isNull) throw EngineException(message()) else pointer
