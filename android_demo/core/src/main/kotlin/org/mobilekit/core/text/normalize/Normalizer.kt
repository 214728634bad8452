package org.mobilekit.core.text.normalize

/** A step that rewrites a text before it is split. */
internal fun interface Normalizer {
    fun normalize(text: AlignedText)
}

/** Several of them, in turn. */
internal class NormalizerSequence(
    private val steps: List<Normalizer>,
) : Normalizer {
    override fun normalize(text: AlignedText) = steps.forEach { it.normalize(text) }
}

/** Writes another character for each. */
internal inline fun AlignedText.mapEach(change: (Int) -> Int) {
    for (i in 0 until size) points[i] = change(points[i])
}

internal inline fun AlignedText.any(predicate: (Int) -> Boolean): Boolean {
    for (i in 0 until size) if (predicate(points[i])) return true
    return false
}

/** Leaves out the characters for which [keep] does not hold. */
internal inline fun AlignedText.filter(keep: (Int) -> Boolean) {
    if (!any { !keep(it) }) return
    val changes = Changes(size)
    for (i in 0 until size) if (keep(points[i])) changes.add(points[i], 0) else changes.remove()
    apply(changes)
}
