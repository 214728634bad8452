package org.mobilekit.engines

import org.mobilekit.core.EngineException
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.engine.EngineLibrary
import org.mobilekit.core.engine.GuardedEngine
import org.mobilekit.core.engine.guarded
import org.pytorch.executorch.EValue
import org.pytorch.executorch.Module
import org.pytorch.executorch.Tensor

/**
 * ExecuTorch on the processor, through XNNPACK: runs the files of the target `executorch`.
 *
 * A module reads its file and lays out weights when a method is first asked for. That is asked for here, so that loading
 * takes what it takes and the first text is answered as fast as the next.
 */
class ExecuTorchLibrary : EngineLibrary {
    override val name: String = "executorch"

    /** ExecuTorch does not tell. */
    override val version: String? = null

    override val targets: Set<String> = setOf("executorch")

    override fun open(
        artifact: Artifact,
        threads: Int,
    ): Engine =
        guarded("${artifact.modelFile}: ExecuTorch cannot open it") {
            val module = Module.load(artifact.modelFile.path, Module.LOAD_MODE_MMAP, threads)
            ExecuTorchEngine(artifact, module).also { engine ->
                runCatching { artifact.manifest.lengths.forEach { module.loadMethod(it.entry) } }
                    .onFailure { engine.close() }
                    .getOrThrow()
            }
        }
}

private class ExecuTorchEngine(
    private val artifact: Artifact,
    private val module: Module,
) : GuardedEngine(artifact) {
    override fun invoke(
        entry: String,
        length: Int,
        inputs: Map<String, IntArray>,
    ): Map<String, FloatArray> {
        val shape = longArrayOf(1, length.toLong())
        val values = inputs.values.map { EValue.from(Tensor.fromBlob(it, shape)) }
        // By their order: a .pte names neither inputs nor outputs.
        val results = module.execute(entry, *values.toTypedArray())
        val ports = artifact.manifest.outputs
        // Some releases report a failure by a result without values.
        if (results.size != ports.size) {
            throw EngineException("${artifact.modelFile}: $entry gave ${results.size} outputs, not ${ports.size}.")
        }
        return ports.indices.associate { ports[it].name to results[it].toTensor().dataAsFloatArray }
    }

    // `close` is of later releases.
    override fun free() = module.destroy()
}
