package org.mobilekit.core.check

import java.util.Locale

/** A figure in a format, with a point whatever the device's language is. */
internal fun String.plain(vararg values: Any): String = String.format(Locale.ROOT, this, *values)

/** `0.005`, `1e-05`: as short as it can be read. */
internal fun shortly(value: Double): String =
    if (value != 0.0 && value < SMALL) "%.0e".plain(value) else "%.4f".plain(value).trimEnd('0').trimEnd('.')

private const val SMALL = 1e-3
