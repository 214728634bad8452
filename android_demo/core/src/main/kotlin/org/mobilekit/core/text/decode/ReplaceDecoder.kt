package org.mobilekit.core.text.decode

import org.mobilekit.core.text.normalize.codePointArray
import org.mobilekit.core.text.pattern.Pattern

/** Writes [content] for every match in each token. */
internal class ReplaceDecoder(
    private val pattern: Pattern,
    private val content: String,
) : Decoder {
    override fun decode(tokens: List<String>): List<String> = tokens.map(::replace)

    private fun replace(token: String): String {
        if (token.isEmpty()) return token
        val points = token.codePointArray()
        val made = StringBuilder()
        var last = 0
        pattern.find(points, 0, points.size) { from, to ->
            made.append(String(points, last, from - last)).append(content)
            last = to
        }
        return made.append(String(points, last, points.size - last)).toString()
    }
}
