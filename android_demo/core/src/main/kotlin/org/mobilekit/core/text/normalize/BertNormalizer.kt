package org.mobilekit.core.text.normalize

import org.mobilekit.core.text.unicode.Unicode

/** BERT's clean-up (Devlin et al. 2019): control characters, spaces around CJK, accents, lower case. */
internal class BertNormalizer(
    private val cleanText: Boolean,
    private val spaceChinese: Boolean,
    private val stripAccents: Boolean,
    private val lowercase: Boolean,
) : Normalizer {
    override fun normalize(text: AlignedText) {
        if (cleanText) {
            text.filter { it != 0 && it != REPLACEMENT && !Unicode.has(it, Unicode.CONTROL) }
            text.mapEach { if (Unicode.has(it, Unicode.WHITE)) SPACE else it }
        }
        if (spaceChinese) spaceChinese(text)
        if (stripAccents) {
            CanonicalForm(compatible = false, composed = false).normalize(text)
            text.filter { !Unicode.has(it, Unicode.NONSPACING) }
        }
        if (lowercase) Lowercase.normalize(text)
    }

    private fun spaceChinese(text: AlignedText) {
        if (!text.any(::isChinese)) return
        val changes = Changes(2 * text.size)
        for (i in 0 until text.size) {
            val point = text.points[i]
            if (isChinese(point)) {
                changes.add(SPACE, 0)
                changes.add(point, 1)
                changes.add(SPACE, 1)
            } else {
                changes.add(point, 0)
            }
        }
        text.apply(changes)
    }

    private companion object {
        const val SPACE = 0x20
        const val REPLACEMENT = 0xFFFD
        const val CHINESE_BEGIN = 0x3400

        /** The blocks that BERT's own code calls Chinese. */
        val CHINESE =
            listOf(
                0x3400..0x4DBF,
                0x4E00..0x9FFF,
                0xF900..0xFAFF,
                0x20000..0x2A6DF,
                0x2A700..0x2B73F,
                0x2B740..0x2B81F,
                0x2B920..0x2CEAF,
                0x2F800..0x2FA1F,
            )

        fun isChinese(point: Int): Boolean = point >= CHINESE_BEGIN && CHINESE.any { point in it }
    }
}
