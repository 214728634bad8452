package org.mobilekit.core.json

/** Values are not as a schema or its rules say; [message] names place and reason. */
internal class FaultException(
    message: String,
) : Exception(message)

/**
 * A value of a JSON file at its place, read as what a schema wants there; whatever is otherwise is a [FaultException].
 *
 * Numbers are judged as in JSON Schema: 2.0 is a whole number, and NaN is in every range.
 */
internal class Field(
    private val json: Any?,
    private val name: String = "",
    private val parent: Field? = null,
) {
    /** Where it stands: `golden/3/input_ids`. */
    val place: String
        get() = if (parent == null) "" else listOf(parent.place, name).filter { it.isNotEmpty() }.joinToString("/")

    fun text(
        least: Int = 0,
        most: Int = Int.MAX_VALUE,
    ): String {
        val found = json as? String ?: fail("is no text")
        // As the schema counts them: characters, not UTF-16 units.
        val size = found.codePointCount(0, found.length)
        if (size !in least..most) fail("has $size characters; $least to $most are allowed")
        return found
    }

    fun flag(): Boolean = json as? Boolean ?: fail("is neither true nor false")

    fun whole(
        least: Long = 0,
        most: Long = MOST_INT,
    ): Long {
        val found =
            when {
                json is Long -> json
                json is Double && json.isFinite() && json == Math.floor(json) -> json.toLong()
                else -> fail("is no whole number")
            }
        // A number that no Long holds became the nearest one, which is outside every range here.
        if (found !in least..most) fail("is $json; $least to $most are allowed")
        return found
    }

    fun int(
        least: Int = 0,
        most: Int = Int.MAX_VALUE,
    ): Int = whole(least.toLong(), most.toLong()).toInt()

    fun number(
        least: Double,
        most: Double,
    ): Double {
        val found = (json as? Long)?.toDouble() ?: json as? Double ?: fail("is no number")
        if (found < least || found > most) fail("is $found; $least to $most are allowed")
        return found
    }

    /** One of texts. */
    fun choice(known: Collection<String>): String =
        (json as? String)?.takeIf { it in known } ?: fail("is ${shown(json)}, not one of ${known.joinToString()}")

    fun list(
        least: Int = 0,
        most: Int = Int.MAX_VALUE,
    ): List<Field> {
        val found = json as? List<*> ?: fail("is no list")
        if (found.size !in least..most) fail("has ${found.size} values; $least to $most are allowed")
        return found.mapIndexed { i, value -> Field(value, i.toString(), this) }
    }

    /** Its members by name, whatever they are called. */
    fun members(): Map<String, Field> {
        val found = json as? Map<*, *> ?: fail("is no object")
        return found.entries.associate { it.key as String to Field(it.value, it.key as String, this) }
    }

    /** Its members; all of [required] are there, and no other but [optional]. */
    fun members(
        required: Set<String>,
        optional: Set<String> = emptySet(),
    ): Map<String, Field> {
        val found = members()
        (required - found.keys).firstOrNull()?.let { fail("has no $it") }
        (found.keys - required - optional).firstOrNull()?.let { fail("has ${shown(it)}, which is unknown") }
        return found
    }

    /** What [read] makes of it, or null of null. */
    fun <T> orNull(read: Field.() -> T): T? = if (json == null) null else read()

    /** Whether it is a whole number that is written as one, as Python tells 2 from 2.0. */
    val isLong: Boolean get() = json is Long

    fun isText(wanted: String): Boolean = json == wanted

    fun fail(reason: String): Nothing =
        throw FaultException(if (place.isEmpty()) "the whole $reason" else "${short(place)}: $reason")

    companion object {
        /** The largest whole number that a Double is sure of. */
        const val MOST = 9_007_199_254_740_991
        const val MOST_INT = Int.MAX_VALUE.toLong()

        private const val SHORT = 80

        /** A text for a message, cut where it is too long to be read there. */
        fun short(text: String): String =
            if (text.length <= SHORT) text else "${text.take(SHORT / 2)}...${text.takeLast(SHORT / 4)}"

        private fun shown(json: Any?): String =
            when (json) {
                is String -> "'${short(json.filterNot(Char::isISOControl))}'"
                is Map<*, *>, is List<*> -> "no text"
                else -> json.toString()
            }
    }
}
