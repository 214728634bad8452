package org.mobilekit.demo

import android.app.Application
import org.mobilekit.core.artifact.Artifact
import org.mobilekit.core.engine.EngineLibrary
import org.mobilekit.core.measure.Protocol
import org.mobilekit.core.text.Tokenizer
import org.mobilekit.core.text.TokenizerReader
import org.mobilekit.demo.artifacts.ArtifactStore
import org.mobilekit.demo.models.Models
import org.mobilekit.demo.models.SelfChecks
import org.mobilekit.demo.work.Worker
import org.mobilekit.engines.ExecuTorchLibrary
import org.mobilekit.engines.LiteRtLibrary
import java.io.File

/** What all screens share. Tests give other engines. */
open class DemoApplication : Application() {
    /** The app's one background thread. */
    val worker: Worker = Worker()

    /** The artifacts of this phone. */
    val store: ArtifactStore by lazy {
        ArtifactStore(assets, assetFolder, getExternalFilesDir("artifacts"), File(filesDir, "artifacts"))
    }

    /** What loads them. */
    val models: Models by lazy { Models(libraries(), ::openTokenizer) }

    /** What artifacts said of themselves since the app was started. */
    val selfChecks: SelfChecks = SelfChecks()

    /** Where artifacts are among the assets. */
    protected open val assetFolder: String get() = "artifacts"

    /** Whether what is measured is made up; said in each report. */
    open val synthetic: Boolean get() = false

    /** Of an engine, as `bench` measures: more pays on few phones, since the small cores slow the big ones. */
    open val threads: Int get() = 2

    /** Engines, the first that reads a target's files runs them. */
    protected open fun libraries(): List<EngineLibrary> = listOf(LiteRtLibrary(), ExecuTorchLibrary())

    /** Reads an artifact's tokenizer. */
    protected open fun openTokenizer(artifact: Artifact): Tokenizer = TokenizerReader.read(artifact.tokenizerFile)

    /** How the benchmark measures. */
    open fun protocol(threads: Int): Protocol = Protocol(threads)

    override fun onTerminate() {
        worker.close()
        super.onTerminate()
    }
}
