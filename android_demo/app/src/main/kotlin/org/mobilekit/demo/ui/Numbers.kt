package org.mobilekit.demo.ui

import android.content.Context
import org.mobilekit.demo.R
import java.text.NumberFormat
import kotlin.math.abs

/** Numbers as a person of this place writes them. */
internal object Numbers {
    /** `93.4 %`, of 0 to 1. */
    fun percent(share: Double): String =
        NumberFormat
            .getPercentInstance()
            .apply {
                minimumFractionDigits = 1
                maximumFractionDigits = 1
            }.format(share)

    /** With [digits] behind the point. */
    fun plain(
        value: Double,
        digits: Int,
    ): String =
        NumberFormat
            .getNumberInstance()
            .apply {
                minimumFractionDigits = digits
                maximumFractionDigits = digits
            }.format(value)

    /** Milliseconds: three digits that count, `0.31 ms`, `12.4 ms`, `340 ms`. */
    fun milliseconds(
        context: Context,
        value: Double,
    ): String =
        context.getString(
            R.string.milliseconds,
            plain(
                value,
                if (value <
                    TEN
                ) {
                    2
                } else if (value < HUNDRED) {
                    1
                } else {
                    0
                },
            ),
        )

    /** Bytes as MB of a million, as hosts show them; what is less than a tenth of one as kB. */
    fun bytes(
        context: Context,
        bytes: Long,
    ): String =
        if (abs(bytes) < MILLION / TEN) {
            context.getString(R.string.kilobytes, plain(bytes / THOUSAND, 1))
        } else {
            context.getString(R.string.megabytes, plain(bytes / MILLION, if (abs(bytes) < HUNDRED * MILLION) 1 else 0))
        }

    private const val TEN = 10.0
    private const val HUNDRED = 100.0
    private const val THOUSAND = 1e3
    private const val MILLION = 1e6
}
