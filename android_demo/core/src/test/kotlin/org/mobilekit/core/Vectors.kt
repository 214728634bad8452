package org.mobilekit.core

import org.mobilekit.core.json.JsonParser
import java.io.File

/** What Python said of made-up input: the committed part, and what was made (property `mobilekit.vectors`: a folder). */
object Vectors {
    /** The contents of the files called [name]: one or two. */
    fun read(name: String): List<Map<String, Any?>> {
        val committed = checkNotNull(javaClass.getResource("/vectors/$name")) { "no vectors/$name" }.readText()
        val made = System.getProperty("mobilekit.vectors")?.let { File(it, name).readText() }
        return listOfNotNull(committed, made).map { objectOf(JsonParser(it).parse()) }
    }

    @Suppress("UNCHECKED_CAST")
    fun objectOf(value: Any?): Map<String, Any?> = value as Map<String, Any?>

    @Suppress("UNCHECKED_CAST")
    fun <T> listOf(value: Any?): List<T> = value as List<T>

    /** The repository's root. */
    val root: File =
        generateSequence(File("").absoluteFile) { it.parentFile }.first { File(it, "android_demo").isDirectory }
}
