package org.mobilekit.demo.report

import android.content.ClipData
import android.content.Context
import android.content.Intent
import android.net.Uri
import java.io.File

/** Reports that the app keeps to be shared. */
internal object Reports {
    /** Where they lie; nobody but the app reads it. */
    fun folder(context: Context): File = File(context.filesDir, "reports")

    /** A new file for a report, its name by the time [at] (UTC milliseconds since 1970). */
    fun file(
        context: Context,
        at: Long,
    ): File = File(folder(context), "mobilekit-$at.json")

    /** To share a report: the app that the person chooses may read this one file. */
    fun share(
        context: Context,
        file: File,
    ): Intent {
        val address = Uri.parse("content://${ReportProvider.AUTHORITY}/${file.name}")
        val send = Intent(Intent.ACTION_SEND)
        send.type = ReportProvider.TYPE
        send.putExtra(Intent.EXTRA_STREAM, address)
        send.putExtra(Intent.EXTRA_SUBJECT, file.name)
        send.clipData = ClipData.newUri(context.contentResolver, file.name, address)
        send.addFlags(Intent.FLAG_GRANT_READ_URI_PERMISSION)
        return Intent.createChooser(send, null)
    }
}
