package org.mobilekit.core.manifest

import org.mobilekit.core.json.Field

private const val MOST_POINTS = 1000.0
private const val MOST_VALUE = 1.001
private const val ARTIFACT = "artifact"
private const val TEACHER = "teacher"
private val SYSTEMS = setOf(TEACHER, "float", "decoded", ARTIFACT)
private val VERDICTS = setOf("passed", "unsure", "failed", "constant", "reported")

/** Holds accuracy, as a manifest has it, against schema and rules; nothing is kept. [teacher]: its id, or null. */
internal fun Field.checkAccuracy(
    teacher: String?,
    status: Status,
) {
    val found = members(setOf("data", "metric", "max_drop", "verdict", "systems", "drops"))
    found("data").checkData()
    found("max_drop").orNull { points() }
    val metric = found("metric").text(least = 1)
    val systems = found("systems").systems()
    val own = systems[ARTIFACT] ?: found("systems").fail("the artifact is not among them")
    if (metric !in own.values) found("metric").fail("is not among the values of the artifact")
    if (teacher != systems[TEACHER]?.id) fail("its teacher is not the one of the manifest")
    val verdict = found("verdict").choice(VERDICTS)
    if (status == Status.PASSED && (verdict == "failed" || verdict == "constant")) {
        found("verdict").fail("is '$verdict', and status says that all checks passed")
    }
    found("drops").checkDrops(systems.keys)
}

private class Answering(
    val id: String,
    val values: Set<String>,
)

private fun Field.systems(): Map<String, Answering> {
    val systems = list(1, SYSTEMS.size)
    return systems
        .associate { each ->
            val found = each.members(setOf("system", "id", "values"))
            val values = found("values").members()
            values.values.forEach { if (!it.number(-MOST_VALUE, MOST_VALUE).isFinite()) it.fail("is not finite") }
            found("system").choice(SYSTEMS) to Answering(found("id").text(), values.keys)
        }.also { if (it.size < systems.size) fail("one is there twice") }
}

private fun Field.checkData() {
    val found = members(setOf("name", "sha256", "rows", "of", "limit", "cut", "labelled"))
    found("name").text()
    found("sha256").sha256()
    found("labelled").flag()
    val rows = found("rows").whole(1, Field.MOST)
    val of = found("of").whole(1, Field.MOST)
    val limit = found("limit").orNull { whole(1, Field.MOST) } ?: of
    if (found("cut").whole(0, Field.MOST) > rows || rows > minOf(of, limit)) {
        fail("has more rows than there were, or than its limit")
    }
}

private fun Field.checkDrops(systems: Set<String>) {
    val drops = list(0, SYSTEMS.size)
    val pairs =
        drops.map { drop ->
            val found = drop.members(setOf("from", "to", "points", "low", "high"))
            val (points, low, high) = listOf("points", "low", "high").map { found(it).points() }
            if (!points.isFinite() || !(low <= high)) drop.fail("its interval is none")
            found("from").choice(SYSTEMS) to found("to").choice(SYSTEMS)
        }
    val named = pairs.flatMap { it.toList() }
    if (pairs.toSet().size < pairs.size || !systems.containsAll(named)) {
        fail("each has to be of systems that are there, once")
    }
}

private fun Field.points(): Double = number(-MOST_POINTS, MOST_POINTS)
