package org.mobilekit.core.measure

/** A clock that only goes forward, such as [System.nanoTime]. */
fun interface Clock {
    fun nanos(): Long
}
