package org.mobilekit.engines

import org.junit.Test
import java.io.File
import java.io.PrintWriter
import java.io.StringWriter
import java.util.spi.ToolProvider
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/**
 * The engines call what all releases have that apps may take, of which only some can be compiled against here.
 *
 * `symbols.txt` lists each class, field and method that they name, and was held by hand against the releases' sources;
 * see "Engines" in android_demo/README.md. A call that is not in it fails here: look it up there before adding it.
 */
class SymbolsTest {
    private val classes =
        File(
            LiteRtLibrary::class.java.protectionDomain.codeSource.location
                .toURI(),
        )
    private val reference =
        Regex("""= (?:Methodref|Fieldref|InterfaceMethodref) .*// (org/(?:tensorflow|pytorch)/\S+)""")

    @Test
    fun `each symbol is one of those looked up`() {
        val known = checkNotNull(javaClass.getResource("/symbols.txt")).readText().lines()
        assertEquals(known.filter { it.isNotBlank() && !it.startsWith("#") }, called())
    }

    @Test
    fun `ExecuTorch's library registers the native methods behind them`() {
        val library = File(checkNotNull(System.getProperty("executorch.library")) { "needs -Dexecutorch.library=FILE" })
        val bytes = library.readBytes().toString(Charsets.ISO_8859_1)
        val natives = natives("org.pytorch.executorch.Module")
        assertTrue(natives.isNotEmpty())
        assertEquals(emptyList(), natives.filterNot { "\u0000$it\u0000" in bytes })
    }

    private fun called(): List<String> =
        classes
            .walk()
            .filter { it.extension == "class" }
            .flatMap { javap("-v", "-p", it.path).lines() }
            .mapNotNull { reference.find(it)?.groupValues?.get(1) }
            .distinct()
            .sorted()
            .toList()

    private fun natives(name: String): List<String> =
        javap("-p", "-cp", System.getProperty("java.class.path"), name)
            .lines()
            .filter { " native " in it }
            .map { it.substringBefore('(').substringAfterLast(' ') }

    private fun javap(vararg arguments: String): String {
        val written = StringWriter()
        val tool = ToolProvider.findFirst("javap").orElseThrow { AssertionError("this Java has no javap: take a JDK") }
        val said = tool.run(PrintWriter(written), PrintWriter(System.err), *arguments)
        assertEquals(0, said, "javap ${arguments.joinToString(" ")}")
        return written.toString()
    }
}
