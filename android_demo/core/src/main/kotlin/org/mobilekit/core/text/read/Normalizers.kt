package org.mobilekit.core.text.read

import org.mobilekit.core.text.normalize.BertNormalizer
import org.mobilekit.core.text.normalize.CanonicalForm
import org.mobilekit.core.text.normalize.CharacterMap
import org.mobilekit.core.text.normalize.Lowercase
import org.mobilekit.core.text.normalize.Normalizer
import org.mobilekit.core.text.normalize.NormalizerSequence
import org.mobilekit.core.text.normalize.Precompiled
import org.mobilekit.core.text.normalize.Prepend
import org.mobilekit.core.text.normalize.Replace
import org.mobilekit.core.text.normalize.Strip
import org.mobilekit.core.text.normalize.StripAccents
import org.mobilekit.core.text.normalize.codePointArray
import java.util.Base64

/** The normalizer that a part describes. */
internal fun normalizer(part: Part): Normalizer =
    when (part.type) {
        "BertNormalizer" -> bertNormalizer(part)
        "Lowercase" -> Lowercase
        "StripAccents" -> StripAccents
        "NFC" -> CanonicalForm(compatible = false, composed = true)
        "NFD" -> CanonicalForm(compatible = false, composed = false)
        "NFKC" -> CanonicalForm(compatible = true, composed = true)
        "NFKD" -> CanonicalForm(compatible = true, composed = false)
        "Replace" -> Replace(part.pattern("pattern"), part.text("content").codePointArray())
        "Strip" -> Strip(part.flag("strip_left"), part.flag("strip_right"))
        "Prepend" -> Prepend(part.text("prepend").codePointArray())
        "Precompiled" -> Precompiled(CharacterMap.read(bytes(part)))
        "Sequence" -> NormalizerSequence(part.parts("normalizers").map(::normalizer))
        else -> part.unsupported()
    }

private fun bertNormalizer(part: Part): Normalizer {
    val lowercase = part.flag("lowercase")
    return BertNormalizer(
        cleanText = part.flag("clean_text"),
        spaceChinese = part.flag("handle_chinese_chars"),
        stripAccents = part.optionalFlag("strip_accents") ?: lowercase,
        lowercase = lowercase,
    )
}

private fun bytes(part: Part): ByteArray =
    try {
        Base64.getDecoder().decode(part.text("precompiled_charsmap"))
    } catch (error: IllegalArgumentException) {
        part.fail("its character map is not base64 (${error.message})")
    }
