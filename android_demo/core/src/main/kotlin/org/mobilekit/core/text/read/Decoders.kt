package org.mobilekit.core.text.read

import org.mobilekit.core.text.decode.ByteFallbackDecoder
import org.mobilekit.core.text.decode.ByteLevelDecoder
import org.mobilekit.core.text.decode.BytePairDecoder
import org.mobilekit.core.text.decode.Decoder
import org.mobilekit.core.text.decode.DecoderSequence
import org.mobilekit.core.text.decode.FuseDecoder
import org.mobilekit.core.text.decode.MetaspaceDecoder
import org.mobilekit.core.text.decode.ReplaceDecoder
import org.mobilekit.core.text.decode.StripDecoder
import org.mobilekit.core.text.decode.WordPieceDecoder
import org.mobilekit.core.text.split.PrependScheme

/** The decoder that a part describes. */
internal fun decoder(part: Part): Decoder =
    when (part.type) {
        "WordPiece" -> WordPieceDecoder(part.text("prefix"), part.flag("cleanup"))
        "Metaspace" -> MetaspaceDecoder(character(part, "replacement"), prependScheme(part) != PrependScheme.NEVER)
        "ByteLevel" -> ByteLevelDecoder
        "BPEDecoder" -> BytePairDecoder(part.text("suffix").ifEmpty { part.fail("suffix is empty") })
        "ByteFallback" -> ByteFallbackDecoder
        "Fuse" -> FuseDecoder
        "Strip" -> StripDecoder(character(part, "content"), part.number("start"), part.number("stop"))
        "Replace" -> ReplaceDecoder(part.pattern("pattern"), part.text("content"))
        "Sequence" -> DecoderSequence(part.parts("decoders").map(::decoder))
        else -> part.unsupported()
    }

private fun character(
    part: Part,
    name: String,
): String = String(Character.toChars(part.character(name)))
