package org.mobilekit.demo.models

import org.mobilekit.core.check.SelfCheckResult
import org.mobilekit.core.manifest.Manifest
import java.util.concurrent.ConcurrentHashMap

/** What artifacts said of themselves since the app was started; from any thread. */
class SelfChecks {
    private val results = ConcurrentHashMap<List<Any?>, SelfCheckResult>()

    /** Of the artifact with this manifest; null where it was not asked yet. */
    operator fun get(manifest: Manifest): SelfCheckResult? = results[key(manifest)]

    /** Keep what the artifact with this manifest said. */
    operator fun set(
        manifest: Manifest,
        result: SelfCheckResult,
    ) {
        results[key(manifest)] = result
    }

    /** All that a self-check depends on: the model file alone does not tell, it may come with another tokenizer. */
    private fun key(manifest: Manifest): List<Any?> =
        listOf(
            manifest.target,
            manifest.sha256,
            manifest.files,
            manifest.lengths,
            manifest.tokenizer,
            manifest.deviceTolerance,
            manifest.golden.map { listOf(it.text, it.textPair, it.inputIds.asList(), it.output.asList()) },
        )
}
