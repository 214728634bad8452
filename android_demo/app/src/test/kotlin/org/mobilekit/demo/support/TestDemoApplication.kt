package org.mobilekit.demo.support

import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.EngineLibrary
import org.mobilekit.core.measure.Protocol
import org.mobilekit.core.text.Tokenizer
import org.mobilekit.demo.DemoApplication

/** The app with made-up engines, and without artifacts of its own. */
class TestDemoApplication : DemoApplication() {
    val fake = FakeLibrary()

    /** The one that runs in place of [fake], where a test has it. */
    var library: EngineLibrary? = null
    var tokenizer: (Artifact) -> Tokenizer = { FakeTokenizer }
    public override var assetFolder: String = "none"

    /** Two wait for each other on a machine that is busy. */
    override val threads: Int get() = 1

    override val synthetic: Boolean get() = true

    /** Few runs: tests hold what is shown, not how long it takes. */
    override fun protocol(threads: Int): Protocol =
        Protocol(threads, loadRepeats = 2, leastRuns = 2, leastSeconds = 0.0, burstSeconds = 0.0)

    override fun libraries(): List<EngineLibrary> = listOf(library ?: fake)

    override fun openTokenizer(artifact: Artifact): Tokenizer = tokenizer(artifact)
}
