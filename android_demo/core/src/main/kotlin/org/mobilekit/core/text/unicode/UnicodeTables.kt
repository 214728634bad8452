package org.mobilekit.core.text.unicode

/** `unicode.txt`, parsed. Properties of a character are bits; pages of 256 characters that are equal are kept once. */
internal class UnicodeTables private constructor(
    private val pages: Array<IntArray>,
    val lower: PointMap,
    val canonical: PointMap,
    val compatible: PointMap,
    val combiningClasses: PointMap,
    val compositions: Compositions,
) {
    fun flags(point: Int): Int = pages[point ushr PAGE_BITS][point and PAGE_MASK]

    /** Gathers the file's lines. */
    private class Builder {
        val flags = IntArray(POINTS)
        val maps = mutableMapOf<String, PointMap>()
        val combiningClasses = mutableListOf<Pair<Int, IntArray>>()

        fun add(line: String) {
            val entries = line.split(' ')
            val name = entries.first()
            when {
                name.startsWith(CLASS) -> {
                    val value = intArrayOf(name.removePrefix(CLASS).toInt())
                    eachOfRanges(entries) { point ->
                        combiningClasses += point to value
                        flags[point] = flags[point] or Unicode.SORTED
                    }
                }

                name in PROPERTIES -> {
                    val bit = 1 shl PROPERTIES.indexOf(name)
                    eachOfRanges(entries) { point -> flags[point] = flags[point] or bit }
                }

                else -> {
                    maps[name] = map(entries)
                }
            }
        }

        fun build(): UnicodeTables {
            val lower = maps.getValue("lower")
            val canonical = maps.getValue("nfd")
            val compatible = maps.getValue("nfkd")
            mark(lower, Unicode.CASED)
            mark(canonical, Unicode.DECOMPOSES)
            mark(compatible, Unicode.DECOMPOSES_COMPATIBLY)
            for (point in HANGUL) flags[point] = flags[point] or DECOMPOSES
            val sorted = PointMap.of(combiningClasses.sortedBy { it.first })
            return UnicodeTables(pages(), lower, canonical, compatible, sorted, Compositions(maps.getValue("compose")))
        }

        private fun mark(
            map: PointMap,
            property: Int,
        ) {
            for (point in map.points) flags[point] = flags[point] or property
        }

        private fun pages(): Array<IntArray> {
            val known = HashMap<Int, MutableList<IntArray>>()
            return Array(POINTS ushr PAGE_BITS) { page ->
                val values = flags.copyOfRange(page shl PAGE_BITS, (page + 1) shl PAGE_BITS)
                val alike = known.getOrPut(values.contentHashCode()) { mutableListOf() }
                alike.firstOrNull { it.contentEquals(values) } ?: values.also { alike += it }
            }
        }
    }

    companion object {
        private const val FILE = "/org/mobilekit/core/text/unicode.txt"
        private const val POINTS = 0x110000
        private const val PAGE_BITS = 8
        private const val PAGE_MASK = 0xFF
        private const val HEX = 16
        private const val CLASS = "ccc"
        private const val DECOMPOSES = Unicode.DECOMPOSES or Unicode.DECOMPOSES_COMPATIBLY
        private val HANGUL = 0xAC00..0xD7A3

        /** Names of the lines of ranges, in the order of the bits in [Unicode]. */
        private val PROPERTIES =
            listOf(
                "white",
                "control",
                "punctuation",
                "nonspacing",
                "combining",
                "word",
                "regexLetter",
                "regexNumber",
                "regexMark",
                "regexSpace",
                "graphemeControl",
                "graphemeExtend",
                "graphemeSpacing",
                "graphemePrepend",
                "graphemeL",
                "graphemeV",
                "graphemeT",
                "pictographic",
                "conjunctConsonant",
                "conjunctLinker",
                "conjunctExtend",
            )

        fun read(): UnicodeTables {
            val builder = Builder()
            val stream = checkNotNull(UnicodeTables::class.java.getResourceAsStream(FILE)) { "$FILE is missing" }
            stream.bufferedReader().useLines { lines -> lines.forEach(builder::add) }
            return builder.build()
        }

        private inline fun eachOfRanges(
            entries: List<String>,
            action: (Int) -> Unit,
        ) {
            var last = 0
            for (entry in entries.drop(1)) {
                val first = last + entry.substringBefore('-').toInt(HEX)
                last = first + entry.substringAfter('-', "0").toInt(HEX)
                for (point in first..last) action(point)
            }
        }

        private fun map(entries: List<String>): PointMap {
            val found = ArrayList<Pair<Int, IntArray>>(entries.size)
            var last = 0
            for (entry in entries.drop(1)) {
                last += entry.substringBefore('=').toInt(HEX)
                found += last to points(entry.substringAfter('='))
            }
            return PointMap.of(found)
        }

        private fun points(list: String): IntArray {
            if (list.isEmpty()) return IntArray(0)
            return list.split(',').map { it.toInt(HEX) }.toIntArray()
        }
    }
}
