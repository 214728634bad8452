package org.mobilekit.core.text.model

/** A word while it is merged: symbols, each with the one before and after it, in the order of the text. */
internal class Symbols(
    capacity: Int,
) {
    private val ids = IntArray(capacity)
    private val lengths = IntArray(capacity)
    private val before = IntArray(capacity)
    private val after = IntArray(capacity)
    private var size = 0

    /** Whether the last symbol stands for characters without a token. */
    var endsUnknown = false
        private set

    fun add(
        id: Int,
        length: Int,
        known: Boolean,
    ) {
        ids[size] = id
        lengths[size] = length
        before[size] = size - 1
        after[size] = size + 1
        size++
        endsUnknown = !known
    }

    fun lengthen() {
        lengths[size - 1]++
    }

    /** Merges pairs, the least rank first, and of equal ones the first. */
    fun merge(merges: Merges) {
        val queue = MergeQueue(size)
        for (i in 0 until size - 1) offer(queue, merges, i)
        while (!queue.isEmpty) {
            val (rank, at) = queue.take()
            val next = if (lengths[at] == 0) size else after[at]
            if (next >= size) continue
            // The pair may be another one by now; as in the library what counts is that it becomes the same token.
            val now = merges.rank(ids[at], ids[next])
            if (now == Merges.NONE || merges.made(now) != merges.made(rank)) continue
            ids[at] = merges.made(rank)
            lengths[at] += lengths[next]
            lengths[next] = 0
            after[at] = after[next]
            if (after[at] < size) before[after[at]] = at
            if (before[at] >= 0) offer(queue, merges, before[at])
            if (after[at] < size) offer(queue, merges, at)
        }
    }

    private fun offer(
        queue: MergeQueue,
        merges: Merges,
        at: Int,
    ) {
        val rank = merges.rank(ids[at], ids[after[at]])
        if (rank != Merges.NONE) queue.add(rank, at)
    }

    fun pieces(): WordPieces {
        val left = (0 until size).filter { lengths[it] != 0 }
        return WordPieces(IntArray(left.size) { ids[left[it]] }, IntArray(left.size) { lengths[left[it]] })
    }
}

/** A heap of merges to do, by rank and then by place. */
private class MergeQueue(
    capacity: Int,
) {
    private var heap = LongArray(maxOf(1, capacity))
    private var size = 0

    val isEmpty: Boolean get() = size == 0

    fun add(
        rank: Int,
        place: Int,
    ) {
        if (size == heap.size) heap = heap.copyOf(2 * size)
        val entry = rank.toLong() shl Int.SIZE_BITS or place.toLong()
        var at = size++
        while (at > 0) {
            val parent = (at - 1) / 2
            if (heap[parent] <= entry) break
            heap[at] = heap[parent]
            at = parent
        }
        heap[at] = entry
    }

    /** Rank and place of the first. */
    fun take(): Pair<Int, Int> {
        val first = heap[0]
        val entry = heap[--size]
        var at = 0
        while (2 * at + 1 < size) {
            var child = 2 * at + 1
            if (child + 1 < size && heap[child + 1] < heap[child]) child++
            if (heap[child] >= entry) break
            heap[at] = heap[child]
            at = child
        }
        heap[at] = entry
        return (first ushr Int.SIZE_BITS).toInt() to first.toInt()
    }
}
