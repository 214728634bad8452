package org.mobilekit.core.engine

import org.mobilekit.core.artifact.Artifact

/** A library that runs model files: LiteRT, ExecuTorch. */
interface EngineLibrary {
    /** As in a report: `litert`, `executorch`. */
    val name: String

    /** The library's version, or null where it does not tell. */
    val version: String?

    /** The targets whose files it reads, as in a manifest: `tflite`, `executorch`. */
    val targets: Set<String>

    /**
     * Load an artifact's model file.
     *
     * The file is mapped, not read. Throws [org.mobilekit.core.EngineException], whatever the library throws.
     */
    fun open(
        artifact: Artifact,
        threads: Int,
    ): Engine
}

/** A loaded model file. One thread at a time may use it. */
interface Engine : AutoCloseable {
    /**
     * Run one input.
     *
     * [length]: an exported length. [inputs]: by name, [length] values each. Returns each output by name, row by row.
     * Throws [org.mobilekit.core.EngineException], whatever the library throws, also after [close].
     */
    fun run(
        length: Int,
        inputs: Map<String, IntArray>,
    ): Map<String, FloatArray>

    /** Free the model's memory. A second time does nothing. */
    override fun close()
}
