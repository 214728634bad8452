package org.mobilekit.core.text.read

import org.mobilekit.core.text.split.Behavior
import org.mobilekit.core.text.split.BertPreTokenizer
import org.mobilekit.core.text.split.ByteLevel
import org.mobilekit.core.text.split.Metaspace
import org.mobilekit.core.text.split.PreTokenizer
import org.mobilekit.core.text.split.PreTokenizerSequence
import org.mobilekit.core.text.split.PrependScheme
import org.mobilekit.core.text.split.Punctuation
import org.mobilekit.core.text.split.Split
import org.mobilekit.core.text.split.Whitespace
import org.mobilekit.core.text.split.WhitespaceSplit

/** The pre-tokenizer that a part describes. */
internal fun preTokenizer(part: Part): PreTokenizer =
    when (part.type) {
        "BertPreTokenizer" -> BertPreTokenizer
        "Whitespace" -> Whitespace
        "WhitespaceSplit" -> WhitespaceSplit
        "Metaspace" -> Metaspace(part.character("replacement"), prependScheme(part), part.flag("split", default = true))
        "ByteLevel" -> ByteLevel(part.flag("add_prefix_space"), part.flag("use_regex", default = true))
        "Punctuation" -> Punctuation(behavior(part, default = "Isolated"))
        "Split" -> Split(part.pattern("pattern"), behavior(part, default = null), part.flag("invert"))
        "Sequence" -> PreTokenizerSequence(part.parts("pretokenizers").map(::preTokenizer))
        else -> part.unsupported()
    }

/** Older files have `add_prefix_space` instead, which may only agree. */
internal fun prependScheme(part: Part): PrependScheme {
    val name = part.optionalText("prepend_scheme")
    val spaces = part.optionalFlag("add_prefix_space") ?: true
    val scheme =
        when (name) {
            "first" -> PrependScheme.FIRST
            "never" -> PrependScheme.NEVER
            "always", null -> PrependScheme.ALWAYS
            else -> part.fail("prepend_scheme is '$name', not first, never or always")
        }
    if (!spaces && scheme != PrependScheme.NEVER) part.fail("add_prefix_space is false, and prepend_scheme not never")
    return scheme
}

private fun behavior(
    part: Part,
    default: String?,
): Behavior =
    when (val name = part.optionalText("behavior") ?: default) {
        "Removed" -> Behavior.REMOVED
        "Isolated" -> Behavior.ISOLATED
        "MergedWithPrevious" -> Behavior.MERGED_WITH_PREVIOUS
        "MergedWithNext" -> Behavior.MERGED_WITH_NEXT
        "Contiguous" -> Behavior.CONTIGUOUS
        else -> part.fail("behavior is '$name', which is none")
    }
