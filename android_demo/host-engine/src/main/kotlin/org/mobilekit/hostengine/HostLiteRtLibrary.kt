package org.mobilekit.hostengine

import org.bytedeco.javacpp.Pointer
import org.bytedeco.tensorflowlite.BuiltinOpResolverWithXNNPACK
import org.bytedeco.tensorflowlite.FlatBufferModel
import org.bytedeco.tensorflowlite.Interpreter
import org.bytedeco.tensorflowlite.InterpreterBuilder
import org.bytedeco.tensorflowlite.global.tensorflowlite
import org.mobilekit.core.EngineException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.engine.EngineLibrary
import org.mobilekit.core.engine.guarded
import java.io.File

/**
 * TensorFlow Lite's C++ library with XNNPACK, on x86-64 Linux.
 *
 * In place of `LiteRtLibrary` in tests: the same files, signatures and kernels, without Android. The library writes the
 * reason of an error to the standard error stream; it cannot be had as a text here.
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
            opened(artifact, threads)
        }

    private fun opened(
        artifact: Artifact,
        threads: Int,
    ): Engine {
        val operators = BuiltinOpResolverWithXNNPACK()
        val file = artifact.modelFile
        // As Android's library does: without, a file that was cut off ends the process.
        val model = FlatBufferModel.VerifyAndBuildFromFile(file.path)
        val interpreter = Interpreter(null as Pointer?)
        try {
            if (missing(model)) throw EngineException("$file: it is no TFLite model.")
            prepare(file, interpreter, threads) { InterpreterBuilder(model, operators) }
        } catch (error: EngineException) {
            listOf(interpreter, operators, model).forEach { it?.close() }
            throw error
        }
        return HostLiteRtEngine(artifact, interpreter) { listOf(interpreter, operators, model).forEach(Pointer::close) }
    }

    private fun prepare(
        file: File,
        interpreter: Interpreter,
        threads: Int,
        builder: () -> InterpreterBuilder,
    ) {
        builder().use {
            if (it.apply(interpreter, threads) != tensorflowlite.kTfLiteOk || missing(interpreter)) {
                throw EngineException("$file: TensorFlow Lite $version refuses it.")
            }
        }
        // The delegate takes the graphs over here: one that cannot run fails now and not at its first call.
        if (interpreter.AllocateTensors() != tensorflowlite.kTfLiteOk) {
            throw EngineException("$file: TensorFlow Lite $version cannot run it.")
        }
    }
}

internal fun missing(pointer: Pointer?): Boolean = pointer == null || pointer.isNull
