package org.mobilekit.demo.report

import android.content.ContentValues
import android.net.Uri
import android.provider.OpenableColumns
import org.junit.Test
import org.mobilekit.demo.support.AppTest
import org.robolectric.Robolectric
import java.io.File
import java.io.FileNotFoundException
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class ReportProviderTest : AppTest() {
    private val provider by lazy {
        Robolectric.setupContentProvider(
            ReportProvider::class.java,
            ReportProvider.AUTHORITY,
        )
    }

    private fun address(path: String) = Uri.parse("content://${ReportProvider.AUTHORITY}/$path")

    private fun report(): File {
        val folder = Reports.folder(app)
        folder.mkdirs()
        return File(folder, "a.json").apply { writeText("{}") }
    }

    @Test
    fun `it tells name, size and type of a report`() {
        report()
        val rows = provider.query(address("a.json"), null, null, null, null)
        rows.use {
            assertTrue(it.moveToFirst())
            assertEquals("a.json", it.getString(it.getColumnIndexOrThrow(OpenableColumns.DISPLAY_NAME)))
            assertEquals(2, it.getLong(it.getColumnIndexOrThrow(OpenableColumns.SIZE)))
        }
        assertEquals("application/json", provider.getType(address("a.json")))
    }

    @Test
    fun `nothing but a report is given`() {
        report()
        File(app.filesDir, "secret.txt").writeText("secret")
        for (path in listOf(
            "",
            "b.json",
            "../secret.txt",
            "..%2Fsecret.txt",
            "a.json/..%2F..%2Fsecret.txt",
            ".",
            "..",
        )) {
            assertFailsWith<FileNotFoundException>(path) { provider.openFile(address(path), "r") }
        }
    }

    @Test
    fun `nothing is written`() {
        val file = report()
        for (mode in listOf("w", "rw", "rwt", "wa")) {
            assertFailsWith<FileNotFoundException>(mode) { provider.openFile(address("a.json"), mode) }
        }
        assertFailsWith<UnsupportedOperationException> { provider.delete(address("a.json"), null, null) }
        assertFailsWith<UnsupportedOperationException> { provider.insert(address("b.json"), ContentValues()) }
        assertFailsWith<UnsupportedOperationException> {
            provider.update(
                address("a.json"),
                ContentValues(),
                null,
                null,
            )
        }
        assertEquals("{}", file.readText())
    }
}
