package org.mobilekit.hostengine

import org.bytedeco.javacpp.FloatPointer
import org.bytedeco.javacpp.IntPointer
import org.bytedeco.tensorflowlite.Interpreter
import org.bytedeco.tensorflowlite.SignatureRunner
import org.bytedeco.tensorflowlite.TfLiteTensor
import org.bytedeco.tensorflowlite.global.tensorflowlite
import org.mobilekit.core.EngineException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.GuardedEngine
import org.mobilekit.core.manifest.Port

/** A .tflite file in one interpreter, entered by its signatures. [release] frees what it is made of. */
internal class HostLiteRtEngine(
    private val artifact: Artifact,
    private val interpreter: Interpreter,
    private val release: () -> Unit,
) : GuardedEngine(artifact) {
    private val runners = HashMap<String, SignatureRunner>()

    override fun invoke(
        entry: String,
        length: Int,
        inputs: Map<String, IntArray>,
    ): Map<String, FloatArray> {
        val runner = runners.getOrPut(entry) { runner(entry) }
        for ((name, values) in inputs) {
            IntPointer(*values).use { fill(name, runner.input_tensor(name), it) }
        }
        if (runner.Invoke() != tensorflowlite.kTfLiteOk) {
            throw EngineException("${artifact.modelFile}: $entry failed.")
        }
        return artifact.manifest.outputs.associate { it.name to output(runner, it, length) }
    }

    override fun free() = release()

    /** The interpreter owns it. */
    private fun runner(entry: String): SignatureRunner {
        val runner = interpreter.GetSignatureRunner(entry)
        if (missing(runner)) throw EngineException("${artifact.modelFile}: it has no signature $entry.")
        if (runner.AllocateTensors() != tensorflowlite.kTfLiteOk) {
            throw EngineException("${artifact.modelFile}: $entry could not be prepared.")
        }
        return runner
    }

    private fun fill(
        name: String,
        tensor: TfLiteTensor?,
        values: IntPointer,
    ) = checked(name, tensor) {
        tensorflowlite.TfLiteTensorCopyFromBuffer(it, values, Int.SIZE_BYTES * values.limit())
    }

    private fun output(
        runner: SignatureRunner,
        port: Port,
        length: Int,
    ): FloatArray {
        val values = FloatArray(port.size(length))
        FloatPointer(values.size.toLong()).use { copied ->
            checked(port.name, runner.output_tensor(port.name)) {
                tensorflowlite.TfLiteTensorCopyToBuffer(it, copied, Float.SIZE_BYTES * copied.limit())
            }
            copied.get(values)
        }
        return values
    }

    /** [copy], of a tensor that is there and as large as the manifest says. */
    private fun checked(
        name: String,
        tensor: TfLiteTensor?,
        copy: (TfLiteTensor) -> Int,
    ) {
        if (tensor == null || tensor.isNull) throw EngineException("${artifact.modelFile}: it has no $name.")
        if (copy(tensor) != tensorflowlite.kTfLiteOk) {
            throw EngineException("${artifact.modelFile}: $name has another size than the manifest says.")
        }
    }
}
