package org.mobilekit.engines

import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.engine.EngineLibrary
import org.mobilekit.core.engine.GuardedEngine
import org.mobilekit.core.engine.guarded
import org.tensorflow.lite.Interpreter
import org.tensorflow.lite.TensorFlowLite
import java.io.File
import java.io.RandomAccessFile
import java.nio.FloatBuffer
import java.nio.IntBuffer
import java.nio.MappedByteBuffer
import java.nio.channels.FileChannel

/** LiteRT's interpreter on the processor, through XNNPACK: runs the files of the target `tflite`. */
class LiteRtLibrary : EngineLibrary {
    override val name: String = "litert"

    /** As the native library tells it; null where there is none. */
    override val version: String?
        get() =
            try {
                TensorFlowLite.runtimeVersion()
            } catch (_: LinkageError) {
                null
            }

    override val targets: Set<String> = setOf("tflite")

    override fun open(
        artifact: Artifact,
        threads: Int,
    ): Engine =
        guarded("${artifact.modelFile}: LiteRT cannot open it") {
            val options = Interpreter.Options().setNumThreads(threads).setUseXNNPACK(true)
            LiteRtEngine(artifact, Interpreter(mapped(artifact.modelFile), options))
        }

    /** The interpreter keeps the buffer as long as it needs the file. */
    private fun mapped(file: File): MappedByteBuffer =
        RandomAccessFile(file, "r").use { it.channel.map(FileChannel.MapMode.READ_ONLY, 0, it.length()) }
}

private class LiteRtEngine(
    private val artifact: Artifact,
    private val interpreter: Interpreter,
) : GuardedEngine(artifact) {
    override fun invoke(
        entry: String,
        length: Int,
        inputs: Map<String, IntArray>,
    ): Map<String, FloatArray> {
        // As buffers: arrays would have to be nested as the tensors' shapes are, and are copied value by value.
        val outputs = artifact.manifest.outputs.associate { it.name to FloatArray(it.size(length)) }
        interpreter.runSignature(
            inputs.mapValues { IntBuffer.wrap(it.value) },
            outputs.mapValues { FloatBuffer.wrap(it.value) },
            entry,
        )
        return outputs
    }

    override fun free() = interpreter.close()
}
