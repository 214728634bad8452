package org.mobilekit.hostengine

import org.junit.Test
import org.junit.runner.RunWith
import org.junit.runners.Parameterized
import kotlin.math.abs
import kotlin.math.sqrt
import kotlin.test.assertTrue

/**
 * Every exported file gives here what it gives in Python.
 *
 * To the last digits as float. Quantized, rounding of activations to 255 levels makes whole steps of such digits; and
 * this build leaves int8 and int4 products to TensorFlow Lite's built-in kernels, where Python's XNNPACK takes them.
 */
@RunWith(Parameterized::class)
class ParityTest(
    private val name: String,
) {
    private val vectors = ModelVectors.named(name)
    private val scheme = vectors.artifact.manifest.scheme
    private val output = vectors.artifact.manifest.output.name

    @Test
    fun `outputs are those of Python`() {
        HostLiteRtLibrary().open(vectors.artifact, 1).use { engine ->
            for (run in vectors.runs) {
                val got = engine.run(run.length, run.inputs).getValue(output).copyOf(run.output.size)
                if (scheme in FLOATS) {
                    val difference = got.indices.maxOf { abs(got[it] - run.output[it]) }
                    assertTrue(difference <= MOST_DIFFERENCE, "$name, '${run.text}': they differ by $difference")
                } else {
                    val cosine = cosine(got, run.output)
                    assertTrue(cosine >= leastCosine(scheme), "$name, '${run.text}': their cosine is $cosine")
                }
            }
        }
    }

    companion object {
        private val FLOATS = setOf("fp32", "fp16")
        private const val MOST_DIFFERENCE = 1e-5f

        @JvmStatic
        @Parameterized.Parameters(name = "{0}")
        fun names(): List<String> = ModelVectors.names

        /** Seen: 0.9998, and 0.9991 at int4 and 0.9986 at int8-static, whose steps are coarser. */
        private fun leastCosine(scheme: String): Double = if (scheme in setOf("int4", "int8-static")) 0.998 else 0.9995

        private fun cosine(
            one: FloatArray,
            other: FloatArray,
        ): Double {
            fun product(
                left: FloatArray,
                right: FloatArray,
            ): Double = left.indices.sumOf { left[it].toDouble() * right[it] }
            return product(one, other) / sqrt(product(one, one) * product(other, other))
        }
    }
}
