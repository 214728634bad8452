package org.mobilekit.core.measure

/** Resident bytes of this process: [anonymousBytes] (heaps, packed weights), [fileBytes] (of mapped files). */
data class Memory(
    val anonymousBytes: Long,
    val fileBytes: Long,
) {
    val residentBytes: Long get() = anonymousBytes + fileBytes
}

/** What this process has in memory; null where the system does not tell. */
fun interface MemoryReader {
    fun read(): Memory?
}
