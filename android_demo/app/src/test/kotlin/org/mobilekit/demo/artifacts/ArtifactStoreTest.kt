package org.mobilekit.demo.artifacts

import org.junit.Test
import org.mobilekit.core.ArtifactException
import org.mobilekit.core.artifact.altered
import org.mobilekit.core.manifest.Task
import org.mobilekit.demo.support.AppTest
import java.io.File
import java.util.concurrent.CancellationException
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertNotEquals
import kotlin.test.assertNull
import kotlin.test.assertTrue

class ArtifactStoreTest : AppTest() {
    private fun store(assets: String = "artifacts") = ArtifactStore(app.assets, assets, pushed, own)

    private fun ArtifactStore.named(name: String): Entry = list().first { it.name == name }

    private fun copies(): List<String> = own.list().orEmpty().sorted()

    @Test
    fun `artifacts of assets and of the pushed folder are listed by name`() {
        push(Task.SEQUENCE_CLASSIFICATION, "pushed")
        val entries = store().list()
        assertEquals(listOf("in-folder", "in-pack", "pushed"), entries.map { it.name })
        assertEquals(listOf(false, false, true), entries.map { it.ready })
        assertEquals(listOf("in-folder", null, "pushed"), entries.map { it.manifest?.model })
        assertEquals(listOf(false, true, false), entries.map { it.packed })
        assertTrue(entries.all { it.trouble == null && it.bytes > 0 })
    }

    @Test
    fun `a phone without a folder to push to has its assets`() {
        assertEquals(2, ArtifactStore(app.assets, "artifacts", null, own).list().size)
    }

    @Test
    fun `what is listed leaves nothing behind`() {
        store().list()
        assertEquals(emptyList(), copies())
    }

    @Test
    fun `an asset is copied once, whole and verified`() {
        val store = store()
        val progress = ArrayList<Pair<Long, Long>>()
        val artifact = store.prepare(store.named("in-folder"), { done, of -> progress += done to of })
        assertEquals(emptyList(), artifact.altered())
        assertEquals(artifact.manifest.bytes, progress.last().let { (done, of) -> of.also { assertEquals(done, of) } })
        assertEquals(own, artifact.folder.parentFile)
        assertTrue(store.named("in-folder").ready)
        val written = artifact.modelFile.lastModified()
        assertEquals(artifact.folder, store.prepare(store.named("in-folder")).folder)
        assertEquals(written, artifact.modelFile.lastModified())
    }

    @Test
    fun `a pack among the assets is unpacked once`() {
        val store = store()
        val artifact = store.prepare(store.named("in-pack"))
        assertEquals("in-pack", artifact.manifest.model)
        assertEquals(emptyList(), artifact.altered())
        assertEquals(1, copies().size)
        val entry = store.named("in-pack")
        assertTrue(entry.ready && !entry.packed)
        assertEquals("in-pack", entry.manifest?.model)
    }

    @Test
    fun `a pack that was pushed is unpacked`() {
        File(pushed, "mine.mkpack").writeBytes(app.assets.open("artifacts/in-pack.mkpack").readBytes())
        val store = store("none")
        assertTrue(store.named("mine").packed)
        assertEquals("in-pack", store.prepare(store.named("mine")).manifest.model)
    }

    @Test
    fun `another pack of the same name gets a copy of its own, and the old one goes`() {
        val file = File(pushed, "mine.mkpack")
        val bytes = app.assets.open("artifacts/in-pack.mkpack").readBytes()
        file.writeBytes(bytes)
        val store = store("none")
        val first = store.prepare(store.named("mine")).folder.name
        // Where a header has the hash of what is in the pack.
        file.writeBytes(bytes.clone().also { it[40] = (it[40] + 1).toByte() })
        assertFalse(store.named("mine").ready)
        assertEquals(emptyList(), copies())
        assertFailsWith<ArtifactException> { store.prepare(store.named("mine")) }
        file.writeBytes(bytes)
        assertEquals(first, store.prepare(store.named("mine")).folder.name)
    }

    @Test
    fun `a pack cut off anywhere is refused, and leaves nothing`() {
        val bytes = app.assets.open("artifacts/in-pack.mkpack").readBytes()
        val store = store("none")
        for (length in listOf(0, 10, 67, 68, bytes.size / 2, bytes.size - 1)) {
            File(pushed, "mine.mkpack").writeBytes(bytes.copyOf(length))
            assertFailsWith<ArtifactException>("$length bytes") { store.prepare(store.named("mine")) }
            assertEquals(emptyList(), copies(), "$length bytes")
        }
    }

    @Test
    fun `copying that is cancelled leaves nothing`() {
        val store = store()
        for (name in listOf("in-folder", "in-pack")) {
            assertFailsWith<CancellationException> { store.prepare(store.named(name), cancelled = { true }) }
            assertEquals(emptyList(), copies())
        }
    }

    @Test
    fun `what was half written when the app ended is removed`() {
        File(own, ".partial-in-folder@0").mkdirs()
        File(own, ".partial-in-folder@0/model.tflite").writeText("half")
        File(own, "gone@0123456789abcdef").mkdirs()
        store().list()
        assertEquals(emptyList(), copies())
    }

    @Test
    fun `a copy that was altered is made again`() {
        val store = store()
        val artifact = store.prepare(store.named("in-folder"))
        artifact.modelFile.writeText("something else")
        assertEquals(emptyList(), store.prepare(store.named("in-folder")).altered())
    }

    @Test
    fun `a copy of a pack whose manifest is lost is made again`() {
        val store = store()
        val artifact = store.prepare(store.named("in-pack"))
        artifact.folder.resolve("manifest.json").writeText("")
        val entry = store.named("in-pack")
        assertNull(entry.trouble)
        assertTrue(entry.packed)
        assertEquals("in-pack", store.prepare(entry).manifest.model)
    }

    @Test
    fun `a pushed artifact that is altered, cut off or without its model is refused`() {
        val store = store("none")
        for ((name, spoil) in spoilers) {
            spoil(File(push(Task.SEQUENCE_CLASSIFICATION, name), "model.tflite"))
            val entry = store.named(name)
            assertNull(entry.trouble, "a manifest alone does not tell")
            val error = assertFailsWith<ArtifactException> { store.prepare(entry) }
            assertContains(error.message.orEmpty(), "model.tflite is missing or altered")
        }
    }

    private val spoilers =
        listOf<Pair<String, (File) -> Unit>>(
            "altered" to { it.writeBytes(it.readBytes().also { bytes -> bytes[100] = 0 }) },
            "cut-off" to { it.writeBytes(it.readBytes().copyOf(100)) },
            "missing" to { check(it.delete()) },
        )

    @Test
    fun `a manifest that cannot be read is listed with the reason`() {
        push(Task.SEQUENCE_CLASSIFICATION, "newer") { change = { it.replace("\"schema\": 1", "\"schema\": 2") } }
        push(Task.SEQUENCE_CLASSIFICATION, "labels") { change = { it.replace("\"negative\", ", "") } }
        push(Task.SEQUENCE_CLASSIFICATION, "cut-off") { change = { it.take(500) } }
        File(pushed, "nothing-in-it").mkdirs()
        val entries = store("none").list()
        assertEquals(4, entries.size)
        for (entry in entries) {
            assertNull(entry.manifest)
            assertFailsWith<ArtifactException> { store("none").prepare(entry) }
            assertContains(entry.trouble.orEmpty(), entry.name)
        }
        assertContains(entries.first { it.name == "newer" }.trouble.orEmpty(), "newer")
    }

    @Test
    fun `what adb is still pushing is not listed, nor are other files`() {
        push(Task.SEQUENCE_CLASSIFICATION, ".partial-a")
        File(pushed, "notes.txt").writeText("not an artifact")
        assertEquals(emptyList(), store("none").list())
    }

    @Test
    fun `what is pushed goes before an asset of the same name`() {
        push(Task.TOKEN_CLASSIFICATION, "in-folder")
        val entry = store().named("in-folder")
        assertEquals(Task.TOKEN_CLASSIFICATION, entry.manifest?.task)
        assertNotEquals(0L, entry.bytes)
    }

    @Test
    fun `a folder that cannot be written to is a message`() {
        own.parentFile?.mkdirs()
        own.writeText("a file in its place")
        val store = ArtifactStore(app.assets, "artifacts", null, own)
        val entries = store.list()
        for (entry in entries) assertFailsWith<ArtifactException> { store.prepare(entry) }
    }
}
