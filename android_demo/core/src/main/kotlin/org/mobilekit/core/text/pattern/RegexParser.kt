package org.mobilekit.core.text.pattern

import org.mobilekit.core.ArtifactException
import org.mobilekit.core.text.normalize.codePointArray
import org.mobilekit.core.text.unicode.Unicode

/**
 * Reads a regular expression: characters, classes with ranges and `\p{L}`, `\p{M}`, `\p{N}`, `\s`, groups, alternatives,
 * `*`, `+`, `?` and `{m,n}` after a single character, and looks ahead and behind.
 *
 * Anything else throws ArtifactException that names it: it is never taken for something else.
 */
internal class RegexParser(
    private val source: String,
) {
    private val points = source.codePointArray()
    private var at = 0

    fun parse(): Node {
        val node = alternation(0)
        if (at < points.size) unsupported("'${char()}' at character $at")
        return node
    }

    private fun alternation(depth: Int): Node {
        if (depth > MOST_DEPTH) unsupported("groups in more than $MOST_DEPTH groups")
        val branches = mutableListOf(concatenation(depth))
        while (take("|")) branches += concatenation(depth)
        return branches.singleOrNull() ?: Alternation(branches)
    }

    private fun concatenation(depth: Int): Node {
        val parts = mutableListOf<Node>()
        var consuming = 0
        while (at < points.size && char() != "|" && char() != ")") {
            val part = part(depth)
            parts += quantified(part)
            if (part !is Look && ++consuming > MOST_PARTS) unsupported("a text of more than $MOST_PARTS parts")
        }
        return parts.singleOrNull() ?: Concatenation(parts)
    }

    private fun part(depth: Int): Node =
        when {
            take("(?:") -> group(depth)
            take("(?=") -> look(group(depth), behind = false, negative = false)
            take("(?!") -> look(group(depth), behind = false, negative = true)
            take("(?<=") -> look(group(depth), behind = true, negative = false)
            take("(?<!") -> look(group(depth), behind = true, negative = true)
            take("(?") -> unsupported("'(?${if (at < points.size) char() else ""}' at character $at")
            take("(") -> group(depth)
            take("[") -> SetNode(characterClass())
            take(".") -> SetNode(CharacterSet(listOf(FEED..FEED), 0, emptyList(), negated = true))
            char() in NOT_LITERAL -> unsupported("'${char()}' at character $at")
            else -> SetNode(SetBuilder().apply { item() }.build(negated = false))
        }

    private fun group(depth: Int): Node {
        val node = alternation(depth + 1)
        if (!take(")")) unsupported("a group that does not end")
        return node
    }

    private fun look(
        node: Node,
        behind: Boolean,
        negative: Boolean,
    ): Node {
        val width = if (behind) node.width ?: unsupported("a look behind at texts of several lengths") else 0
        return Look(node, width, negative)
    }

    private fun quantified(node: Node): Node {
        val (least, most) =
            when {
                take("*") -> 0 to Int.MAX_VALUE
                take("+") -> 1 to Int.MAX_VALUE
                take("?") -> 0 to 1
                take("{") -> counts()
                else -> return node
            }
        if (at < points.size && char() in QUANTIFIERS) unsupported("'${char()}' after a quantifier")
        return Repetition(node as? SetNode ?: unsupported("a quantifier after a group"), least, most)
    }

    private fun counts(): Pair<Int, Int> {
        val least = number()
        val most =
            when {
                !take(",") -> least
                char() == "}" -> Int.MAX_VALUE
                else -> number()
            }
        if (!take("}") || most < least) unsupported("the counts before character $at")
        return least to most
    }

    private fun number(): Int {
        val from = at
        while (at < points.size && points[at] in '0'.code..'9'.code) at++
        return String(points, from, at - from).toIntOrNull() ?: unsupported("a count at character $from")
    }

    private fun characterClass(): CharacterSet {
        val negated = take("^")
        val set = SetBuilder()
        while (at < points.size && char() != "]") {
            if (char() == "[" || (char() == "&" && points.getOrNull(at + 1) == '&'.code)) {
                unsupported("'${char()}' in a class, at character $at")
            }
            set.item(inClass = true)
        }
        if (set.isEmpty || !take("]")) unsupported("a class that is empty or does not end")
        return set.build(negated)
    }

    private inner class SetBuilder {
        private val ranges = mutableListOf<IntRange>()
        private val lacking = mutableListOf<Int>()
        private var properties = 0

        val isEmpty: Boolean get() = ranges.isEmpty() && lacking.isEmpty() && properties == 0

        fun build(negated: Boolean) = CharacterSet(ranges, properties, lacking, negated)

        fun item(inClass: Boolean = false) {
            val first = single() ?: return
            val isRange = inClass && at + 1 < points.size && char() == "-" && points[at + 1] != ']'.code
            if (!isRange) {
                ranges += first..first
                return
            }
            at++
            val last = single() ?: unsupported("a range that ends in no character, at character $at")
            if (last < first) unsupported("a range that ends before it begins, at character $at")
            ranges += first..last
        }

        /** The next character; null where it was a property, which is noted. */
        private fun single(): Int? {
            if (!take("\\")) return points[at++]
            if (at == points.size) unsupported("'\\' at the end")
            val sign = char()
            at++
            when (sign) {
                "s" -> properties = properties or Unicode.REGEX_SPACE
                "S" -> lacking += Unicode.REGEX_SPACE
                "p" -> properties = properties or property()
                "P" -> lacking += property()
                "x" -> return hexadecimal()
                "n" -> return FEED
                "r" -> return RETURN
                "t" -> return TAB
                else -> return escaped(sign)
            }
            return null
        }

        private fun escaped(sign: String): Int {
            if (sign[0].isLetterOrDigit()) unsupported("'\\$sign' at character $at")
            return sign.codePointAt(0)
        }

        private fun property(): Int =
            when {
                take("{L}") -> Unicode.REGEX_LETTER
                take("{M}") -> Unicode.REGEX_MARK
                take("{N}") -> Unicode.REGEX_NUMBER
                else -> unsupported("the property at character $at")
            }

        private fun hexadecimal(): Int {
            if (!take("{")) unsupported("'\\x' without braces")
            val from = at
            while (at < points.size && char() != "}") at++
            val value = String(points, from, at - from).toIntOrNull(HEX)
            if (value == null || value !in 0..Character.MAX_CODE_POINT || !take("}")) {
                unsupported("the number at character $from")
            }
            return value
        }
    }

    private fun char(): String = if (at < points.size) String(points, at, 1) else ""

    private fun take(text: String): Boolean {
        if (at + text.length > points.size) return false
        for (i in text.indices) if (points[at + i] != text[i].code) return false
        at += text.length
        return true
    }

    private fun unsupported(what: String): Nothing =
        throw ArtifactException(
            "regular expression '${source.take(RegexPattern.SHOWN)}': $what is not supported.",
        )

    private companion object {
        const val FEED = 0x0A
        const val RETURN = 0x0D
        const val TAB = 0x09
        const val HEX = 16
        const val MOST_DEPTH = 20

        /** A match calls from part to part, and a phone's stack is small. */
        const val MOST_PARTS = 128
        val QUANTIFIERS = setOf("*", "+", "?", "{")
        val NOT_LITERAL = QUANTIFIERS + setOf("^", "$", "]", "}")
    }
}
