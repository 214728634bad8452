package org.mobilekit.core.text

import java.io.File

/** The small tokenizers whose vectors are committed, by name. */
internal object Samples {
    val names =
        listOf(
            "small-wordpiece",
            "small-unigram",
            "small-unigram-bytes",
            "small-bytepairs",
            "small-bytepairs-spaced",
            "small-bytepairs-unknown",
            "small-added",
            "small-split",
            "small-forms",
            "small-marks",
            "small-e5",
        )

    fun file(name: String): File = File(checkNotNull(javaClass.getResource("/tokenizers/$name/tokenizer.json")).toURI())

    fun json(name: String): String = file(name).readText()

    fun tokenizer(name: String): Tokenizer = TokenizerReader.read(file(name))
}
