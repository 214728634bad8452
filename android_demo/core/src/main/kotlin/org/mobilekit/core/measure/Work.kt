package org.mobilekit.core.measure

/** What is timed. [name]: as a report's ratios have it. [doing]: in words. */
internal sealed class Work(
    val name: String,
    val doing: String,
) {
    /** Runs of the engine alone at a length, all tokens real. */
    class Length(
        val length: Int,
    ) : Work("$length", "running length $length")

    /** The protocol's texts through the engine alone. */
    object Rows : Work("rows", "running texts as they come")

    /** The protocol's texts from text to answer. */
    object Pipeline : Work("texts", "running texts the whole way")
}
