package org.mobilekit.core.manifest

/** What the weights are kept in at most, which decides how near outputs have to be (`export/thresholds.py`). */
enum class Precision {
    /** All of them float32. */
    SINGLE,

    /** All of them floats. */
    HALF,

    /** Some in 8 bits or fewer. */
    QUANTIZED,

    /** The same, with activations of fixed scales. */
    STATIC,
}
