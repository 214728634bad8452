package org.mobilekit.core.text.model

import org.mobilekit.core.ArtifactException

/** A trie over code points, whose edges are in one hash table. Node 0 is the root. */
internal class TokenTrie {
    private var keys = LongArray(FIRST_CAPACITY) { FREE }
    private var children = IntArray(FIRST_CAPACITY)
    private var values = IntArray(FIRST_CAPACITY) { NONE }
    private var nodes = 1

    /** Gives [text] the value [value], instead of what it had. */
    fun put(
        text: String,
        value: Int,
    ) {
        var node = ROOT
        var at = 0
        while (at < text.length) {
            val point = text.codePointAt(at)
            at += Character.charCount(point)
            node = childOrNew(node, point)
        }
        values[node] = value
    }

    /** The child of a node for a code point, or [NONE]. */
    fun child(
        node: Int,
        point: Int,
    ): Int {
        val key = key(node, point)
        var slot = slot(key)
        while (keys[slot] != key) {
            if (keys[slot] == FREE) return NONE
            slot = (slot + 1) and (keys.size - 1)
        }
        return children[slot]
    }

    /** What the text that leads to [node] has for its value, or [NONE]. */
    fun value(node: Int): Int = values[node]

    /** The value of the characters [from] until [to], or [NONE]. */
    fun find(
        points: IntArray,
        from: Int,
        to: Int,
    ): Int {
        var node = ROOT
        for (i in from until to) {
            node = child(node, points[i])
            if (node == NONE) return NONE
        }
        return values[node]
    }

    fun find(text: String): Int {
        val node = nodeOf(text)
        return if (node == NONE) NONE else values[node]
    }

    /** The node that [text] leads to, or [NONE]. */
    fun nodeOf(text: String): Int {
        var node = ROOT
        var at = 0
        while (at < text.length && node != NONE) {
            val point = text.codePointAt(at)
            at += Character.charCount(point)
            node = child(node, point)
        }
        return node
    }

    private fun childOrNew(
        node: Int,
        point: Int,
    ): Int {
        val known = child(node, point)
        if (known != NONE) return known
        if (nodes == MOST_NODES) throw ArtifactException("model: its vocabulary has more than $MOST_NODES beginnings.")
        if (2 * nodes >= keys.size) grow()
        val key = key(node, point)
        var slot = slot(key)
        while (keys[slot] != FREE) slot = (slot + 1) and (keys.size - 1)
        keys[slot] = key
        children[slot] = nodes
        if (nodes == values.size) {
            values = values.copyOf(2 * nodes)
            values.fill(NONE, nodes)
        }
        return nodes++
    }

    private fun grow() {
        val oldKeys = keys
        val oldChildren = children
        keys = LongArray(2 * oldKeys.size) { FREE }
        children = IntArray(2 * oldKeys.size)
        for (i in oldKeys.indices) {
            if (oldKeys[i] == FREE) continue
            var slot = slot(oldKeys[i])
            while (keys[slot] != FREE) slot = (slot + 1) and (keys.size - 1)
            keys[slot] = oldKeys[i]
            children[slot] = oldChildren[i]
        }
    }

    private fun slot(key: Long): Int = (key * SPREAD ushr SPREAD_SHIFT).toInt() and (keys.size - 1)

    companion object {
        const val ROOT = 0
        const val NONE = -1
        private const val FREE = -1L
        private const val FIRST_CAPACITY = 1 shl 10
        private const val MOST_NODES = 1 shl 21
        private const val POINT_BITS = 21
        private const val SPREAD = -0x61c8864680b583ebL
        private const val SPREAD_SHIFT = 32

        private fun key(
            node: Int,
            point: Int,
        ): Long = node.toLong() shl POINT_BITS or point.toLong()
    }
}
