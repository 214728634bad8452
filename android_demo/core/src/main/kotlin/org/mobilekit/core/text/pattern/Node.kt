package org.mobilekit.core.text.pattern

/** A part of a regular expression. */
internal interface Node {
    /** Characters that a match has, or null where that differs. */
    val width: Int?

    /** Whether a match may begin at [at]: a quick look, so that most places need no more. */
    fun mayBegin(
        run: RegexPattern.Run,
        at: Int,
    ): Boolean

    /** Calls [next] with the end of each match that begins at [at], until it returns true, and returns whether it did. */
    fun match(
        run: RegexPattern.Run,
        at: Int,
        next: (Int) -> Boolean,
    ): Boolean
}

/** One character of a set. */
internal class SetNode(
    private val set: CharacterSet,
) : Node {
    override val width = 1

    override fun mayBegin(
        run: RegexPattern.Run,
        at: Int,
    ): Boolean = isAt(run, at)

    override fun match(
        run: RegexPattern.Run,
        at: Int,
        next: (Int) -> Boolean,
    ): Boolean {
        run.step()
        return at < run.to && set.has(run.points[at]) && next(at + 1)
    }

    fun isAt(
        run: RegexPattern.Run,
        at: Int,
    ): Boolean = at < run.to && set.has(run.points[at])
}

/** One part after the other. */
internal class Concatenation(
    private val parts: List<Node>,
) : Node {
    override val width: Int? = parts.fold(0 as Int?) { sum, part -> part.width?.let { sum?.plus(it) } }

    override fun mayBegin(
        run: RegexPattern.Run,
        at: Int,
    ): Boolean = parts.isEmpty() || parts[0].mayBegin(run, at)

    override fun match(
        run: RegexPattern.Run,
        at: Int,
        next: (Int) -> Boolean,
    ): Boolean = match(run, at, 0, next)

    private fun match(
        run: RegexPattern.Run,
        at: Int,
        index: Int,
        next: (Int) -> Boolean,
    ): Boolean {
        // Parts of no width are tried in a loop: there may be thousands of them, too many to call into each other.
        var part = index
        while (part < parts.size && parts[part] is Look) {
            if (!(parts[part] as Look).holds(run, at)) return false
            part++
        }
        if (part == parts.size) return next(at)
        return parts[part].match(run, at) { match(run, it, part + 1, next) }
    }
}

/** The first of several that leads to a match. */
internal class Alternation(
    private val branches: List<Node>,
) : Node {
    override val width: Int? = branches.first().width?.takeIf { first -> branches.all { it.width == first } }

    override fun mayBegin(
        run: RegexPattern.Run,
        at: Int,
    ): Boolean {
        for (branch in branches) if (branch.mayBegin(run, at)) return true
        return false
    }

    override fun match(
        run: RegexPattern.Run,
        at: Int,
        next: (Int) -> Boolean,
    ): Boolean = branches.any { it.match(run, at, next) }
}

/** A character several times, as often as can be. */
internal class Repetition(
    private val node: SetNode,
    private val least: Int,
    private val most: Int,
) : Node {
    override val width: Int? = least.takeIf { it == most }

    override fun mayBegin(
        run: RegexPattern.Run,
        at: Int,
    ): Boolean = least == 0 || node.isAt(run, at)

    override fun match(
        run: RegexPattern.Run,
        at: Int,
        next: (Int) -> Boolean,
    ): Boolean {
        var count = 0
        while (count < most && node.isAt(run, at + count)) {
            run.step()
            count++
        }
        while (count >= least) {
            run.step()
            if (next(at + count)) return true
            count--
        }
        return false
    }
}

/** What stands before or behind, without being part of the match. */
internal class Look(
    private val node: Node,
    private val behind: Int,
    private val negative: Boolean,
) : Node {
    override val width = 0

    override fun mayBegin(
        run: RegexPattern.Run,
        at: Int,
    ): Boolean = holds(run, at)

    fun holds(
        run: RegexPattern.Run,
        at: Int,
    ): Boolean {
        run.step()
        val from = at - behind
        val found = from >= run.from && (if (node is SetNode) node.isAt(run, from) else isFound(run, from, at))
        return found != negative
    }

    private fun isFound(
        run: RegexPattern.Run,
        from: Int,
        at: Int,
    ): Boolean = node.mayBegin(run, from) && node.match(run, from) { end -> behind == 0 || end == at }

    override fun match(
        run: RegexPattern.Run,
        at: Int,
        next: (Int) -> Boolean,
    ): Boolean = holds(run, at) && next(at)
}
