package org.mobilekit.core.answer

import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.Engine
import org.mobilekit.core.text.Tokenizer

/** An artifact that answers texts. One thread at a time may use it; [close] closes the engine. */
class TextModel(
    val artifact: Artifact,
    val tokenizer: Tokenizer,
    val engine: Engine,
) : AutoCloseable {
    /**
     * Tokenize, run and decode one text or pair.
     *
     * [pair]: a second text; for question answering the context, [text] being the question. [threshold]: least
     * probability of a label where several may hold. [count]: how many spans or words. Throws
     * [org.mobilekit.core.InputException] for a pair where the artifact takes none, and for a missing context or mask
     * token; [org.mobilekit.core.EngineException] where the engine fails or its output is not finite;
     * [org.mobilekit.core.ArtifactException] where the file gives another output than its manifest says.
     */
    fun answer(
        text: String,
        pair: String? = null,
        threshold: Double = THRESHOLD,
        count: Int = COUNT,
    ): Answer = TODO("$text $pair $threshold $count")

    override fun close(): Unit = engine.close()

    companion object {
        const val THRESHOLD = 0.5
        const val COUNT = 5
    }
}
