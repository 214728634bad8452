package org.mobilekit.core.manifest

import org.mobilekit.core.json.FaultException
import org.mobilekit.core.json.Field

private const val MOST_NAME = 255
private const val MOST_LABELS = 65_536
private const val MOST_LABEL = 1000
private const val MOST_LENGTHS = 64
private const val MOST_RULES = 1024
private const val MOST_PORTS = 8
private const val MOST_LIMIT = 1e9

private val REQUIRED =
    setOf(
        "schema",
        "name",
        "model",
        "task",
        "labels",
        "problem_type",
        "source",
        "target",
        "file",
        "bytes",
        "sha256",
        "files",
        "scheme",
        "plan",
        "inputs",
        "outputs",
        "lengths",
        "exits",
        "tokenizer",
        "parameters",
        "layers",
        "tensors",
        "groups",
        "golden",
        "tolerance",
        "checks",
        "status",
        "teacher",
        "accuracy",
        "versions",
        "engine",
        "minimum_os",
    )

/**
 * A manifest out of JSON values that follow `mobilekit/schemas/manifest.schema.json` and `mobilekit/manifest_rules.py`.
 *
 * Throws [FaultException] for the first fault.
 */
internal fun readManifest(json: Any?): Manifest {
    val fields = Field(json).members(REQUIRED)
    fields("schema").int(Manifest.SCHEMA, Manifest.SCHEMA)
    fields("exits").list(0, 0)
    fields("plan").list(1, MOST_RULES).forEach { it.checkRule() }
    fields("checks").list().forEach { it.checkCheck() }
    val tensors = fields("tensors").tensors()
    val source = fields("source").members(setOf("id", "revision", "license", "weights_sha256"))
    source("revision").text()
    source("weights_sha256").sha256()
    val tolerance = fields("tolerance").members(setOf("host", "device"))
    val engine = fields("engine").members(setOf("name", "minimum_version"))
    val status = fields("status").oneOf(Status.entries) { it.id }
    val teacher = fields("teacher").orNull { text() }
    fields("accuracy").orNull { checkAccuracy(teacher, status) }
        ?: teacher?.let { fields("teacher").fail("is named, and accuracy says nothing of it") }
    val manifest =
        Manifest(
            name = fields("name").text(1, MOST_NAME),
            model = fields("model").text(1, MOST_NAME),
            task = fields("task").oneOf(Task.entries) { it.id },
            labels = fields("labels").list(0, MOST_LABELS).map { it.text(0, MOST_LABEL) },
            problemType = fields("problem_type").orNull { oneOf(ProblemType.entries) { it.id } },
            sourceId = source("id").text(),
            license = source("license").text(),
            target = fields("target").text(least = 1),
            file = fields("file").fileName(),
            bytes = fields("bytes").whole(1, Field.MOST),
            sha256 = fields("sha256").sha256(),
            files = fields("files").files(),
            scheme = fields("scheme").text(least = 1),
            inputs = fields("inputs").list(1, MOST_PORTS).map { it.port() },
            outputs = fields("outputs").list(1, MOST_PORTS).map { it.port() },
            lengths = fields("lengths").list(1, MOST_LENGTHS).map { it.entryPoint() },
            tokenizer = fields("tokenizer").tokenizer(),
            parameters = fields("parameters").whole(1, Field.MOST),
            layers = fields("layers").int(1, MOST_LENGTH),
            groups = fields("groups").members().mapValues { it.value.group() },
            precision = precisionOf(tensors),
            golden = fields("golden").list(1, MOST_GOLDEN).map { it.golden() },
            hostTolerance = tolerance("host").tolerance(),
            deviceTolerance = tolerance("device").tolerance(),
            status = status,
            versions = fields("versions").texts(),
            engine = engine("name").text(),
            engineMinimumVersion = engine("minimum_version").text(),
            minimumOs = fields("minimum_os").texts(),
        )
    // Python's rule reads a size that is written 2.0 as none.
    if (!fields("outputs").list().first().sizeIsWhole()) fields("outputs").fail("its size is no whole number")
    contradiction(manifest, tensors)?.let { throw FaultException(it) }
    return manifest
}

private fun <T> Field.oneOf(
    known: List<T>,
    id: (T) -> String,
): T {
    val found = choice(known.map(id))
    return known.first { id(it) == found }
}

private fun Field.texts(): Map<String, String> = members().mapValues { it.value.text() }

private fun Field.files(): Map<String, String> {
    val found = members()
    found.keys.firstOrNull { !isFileName(it) }?.let { fail("'${Field.short(it)}' is no name of a file in the folder") }
    return found.mapValues { it.value.sha256() }
}

private fun Field.port(): Port {
    val found = members(setOf("name", "dtype", "shape", "meaning"))
    val dtype = found("dtype").choice(setOf("int32", "float32"))
    return Port(found("name").text(), dtype, found("shape").shape().map { it.size }, found("meaning").text())
}

private fun Field.sizeIsWhole(): Boolean = members()("shape").shape().lastOrNull()?.written == true

private fun Field.entryPoint(): EntryPoint {
    val found = members(setOf("length", "entry"))
    return EntryPoint(found("length").int(1, MOST_LENGTH), found("entry").entry())
}

private fun Field.group(): TensorGroup {
    val found = members(setOf("parameters", "bytes"))
    return TensorGroup(found("parameters").whole(0, Field.MOST), found("bytes").whole(0, Field.MOST))
}

private fun Field.tolerance(): Tolerance {
    val found = members(setOf("metric", "limit"))
    val limit = found("limit").number(-MOST_LIMIT, MOST_LIMIT)
    if (!limit.isFinite()) found("limit").fail("is not finite")
    return Tolerance(found("metric").oneOf(Tolerance.Metric.entries) { it.id }, limit)
}

/** A rule of the plan: a pattern with either a scheme or "skip", and options that are whole numbers. */
private fun Field.checkRule() {
    val found = members()
    if ("pattern" !in found) fail("has no pattern")
    if (("scheme" in found) == ("skip" in found)) fail("has to have either scheme or skip")
    for ((name, value) in found) {
        when (name) {
            "pattern", "scheme" -> value.text()
            "skip" -> if (!value.flag()) value.fail("has to be true")
            else -> value.int(1)
        }
    }
}

private fun Field.checkCheck() {
    val found = members(setOf("name", "passed", "measured", "limit"))
    found("passed").flag()
    for (name in listOf("name", "measured", "limit")) found(name).text()
}
