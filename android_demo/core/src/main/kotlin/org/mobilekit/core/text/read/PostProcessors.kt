package org.mobilekit.core.text.read

import org.mobilekit.core.text.json.JsonNumber
import org.mobilekit.core.text.process.PostProcessor
import org.mobilekit.core.text.process.Template
import org.mobilekit.core.text.process.TemplatePart
import org.mobilekit.core.text.process.Trimming

/** The post-processor that a part describes. */
internal fun postProcessor(part: Part): PostProcessor =
    when (part.type) {
        "TemplateProcessing" -> template(part)
        "BertProcessing" -> bert(part)
        "RobertaProcessing" -> roberta(part)
        "ByteLevel" -> PostProcessor.plain(trimming(part))
        "Sequence" -> sequence(part)
        else -> part.unsupported()
    }

private fun trimming(part: Part): Trimming? =
    Trimming(part.flag("add_prefix_space")).takeIf { part.flag("trim_offsets", default = true) }

private fun bert(part: Part): PostProcessor {
    val first = special(part, "cls")
    val last = special(part, "sep")
    val begin = listOf(first, TemplatePart.Text(0, 0), last)
    val end = listOf(TemplatePart.Text(1, 1), TemplatePart.Special(last.ids, 1))
    return PostProcessor(Template(begin), Template(begin + end), trimming = null)
}

private fun roberta(part: Part): PostProcessor {
    val last = special(part, "sep")
    val begin = listOf(special(part, "cls"), TemplatePart.Text(0, 0), last)
    val end = listOf(last, TemplatePart.Text(1, 0), last)
    return PostProcessor(Template(begin), Template(begin + end), trimming(part))
}

/** A pair of a special token's text and id. */
private fun special(
    part: Part,
    name: String,
): TemplatePart.Special {
    val pair = part.list(name)
    if (pair.size != 2 || pair[0] !is String) part.fail("$name is not a token with its id")
    return TemplatePart.Special(intArrayOf(part.number(name, pair[1])), typeId = 0)
}

/** Byte-level offsets are trimmed first, then special tokens put around. */
private fun sequence(part: Part): PostProcessor {
    val steps = part.parts("processors")
    val trims = steps.dropLast(1)
    if (steps.isEmpty()) return PostProcessor.plain(trimming = null)
    if (trims.size > 1 || trims.any { it.type != "ByteLevel" } || steps.last().type == "Sequence") {
        part.fail("only ByteLevel and then another one are supported in it")
    }
    val last = postProcessor(steps.last())
    val first = trims.firstOrNull()?.let(::trimming) ?: return last
    if (last.trimming != null) part.fail("it trims offsets twice, which is not supported")
    return PostProcessor(last.single, last.pair, first)
}

private fun template(part: Part): PostProcessor {
    val specials = part.map("special_tokens").mapValues { (name, value) -> ids(part, name, value) }
    val single = parts(part, "single", specials)
    val pair = parts(part, "pair", specials)
    if (texts(single) != listOf(0)) part.fail("single has not the text A once, and no other")
    if (texts(pair).sorted() != listOf(0, 1)) part.fail("pair has not the texts A and B, each once")
    return PostProcessor(Template(single), Template(pair), trimming = null)
}

private fun texts(parts: List<TemplatePart>): List<Int> =
    parts.filterIsInstance<TemplatePart.Text>().map { it.sequence }

private fun ids(
    part: Part,
    name: String,
    value: Any?,
): IntArray {
    val list = part.map(name, value)["ids"] as? List<*> ?: part.fail("the special token '$name' has no ids")
    return list.map { part.number("an id of '$name'", it) }.toIntArray()
}

private fun parts(
    part: Part,
    name: String,
    specials: Map<String, IntArray>,
): List<TemplatePart> =
    part.list(name).map { element ->
        val (kind, value) = part.map(name, element).entries.singleOrNull() ?: part.fail("$name has an unknown part")
        val fields = part.map(name, value)
        val id = fields["id"] as? String ?: part.fail("a part of $name has no id")
        val typeId = part.number("a type_id of $name", fields["type_id"] as? JsonNumber)
        when {
            kind == "SpecialToken" -> {
                TemplatePart.Special(specials[id] ?: part.fail("special_tokens lacks '$id'"), typeId)
            }

            kind == "Sequence" && id in TEXTS -> {
                TemplatePart.Text(TEXTS.indexOf(id), typeId)
            }

            else -> {
                part.fail("$name has the unknown part '$kind' '$id'")
            }
        }
    }

private val TEXTS = listOf("A", "B")
