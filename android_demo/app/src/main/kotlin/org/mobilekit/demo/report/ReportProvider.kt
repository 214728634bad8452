package org.mobilekit.demo.report

import android.content.ContentProvider
import android.content.ContentValues
import android.database.Cursor
import android.database.MatrixCursor
import android.net.Uri
import android.os.ParcelFileDescriptor
import android.provider.OpenableColumns
import java.io.File
import java.io.FileNotFoundException

/** Lets another app read one report, which a person shared with it. There is nothing to write, and no folder to see. */
class ReportProvider : ContentProvider() {
    override fun onCreate(): Boolean = true

    override fun getType(uri: Uri): String = TYPE

    /** Throws [FileNotFoundException] where it is not a report of this app, or more than reading is asked for. */
    override fun openFile(
        uri: Uri,
        mode: String,
    ): ParcelFileDescriptor {
        if (mode != "r") throw FileNotFoundException("reports can only be read")
        return ParcelFileDescriptor.open(file(uri), ParcelFileDescriptor.MODE_READ_ONLY)
    }

    override fun query(
        uri: Uri,
        projection: Array<String>?,
        selection: String?,
        selectionArgs: Array<String>?,
        sortOrder: String?,
    ): Cursor {
        val file = file(uri)
        val columns = projection ?: arrayOf(OpenableColumns.DISPLAY_NAME, OpenableColumns.SIZE)
        val cursor = MatrixCursor(columns, 1)
        val row = cursor.newRow()
        for (column in columns) {
            when (column) {
                OpenableColumns.DISPLAY_NAME -> row.add(column, file.name)
                OpenableColumns.SIZE -> row.add(column, file.length())
            }
        }
        return cursor
    }

    override fun insert(
        uri: Uri,
        values: ContentValues?,
    ): Uri? = throw UnsupportedOperationException("reports can only be read")

    override fun update(
        uri: Uri,
        values: ContentValues?,
        selection: String?,
        selectionArgs: Array<String>?,
    ): Int = throw UnsupportedOperationException("reports can only be read")

    override fun delete(
        uri: Uri,
        selection: String?,
        selectionArgs: Array<String>?,
    ): Int = throw UnsupportedOperationException("reports can only be read")

    /** The report of an address: by its name in the folder, so that no path leads out of it. */
    private fun file(uri: Uri): File {
        val name = uri.pathSegments.singleOrNull()
        val files = Reports.folder(checkNotNull(context)).listFiles().orEmpty()
        return files.firstOrNull { it.name == name } ?: throw FileNotFoundException("no such report")
    }

    companion object {
        /** As the manifest has it. */
        const val AUTHORITY = "org.mobilekit.demo.reports"

        /** Of every report. */
        const val TYPE = "application/json"
    }
}
