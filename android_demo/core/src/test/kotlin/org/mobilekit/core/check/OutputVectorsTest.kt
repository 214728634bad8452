package org.mobilekit.core.check

import org.junit.Test
import org.mobilekit.core.Vectors
import org.mobilekit.core.manifest.Manifest
import org.mobilekit.core.manifestOf
import org.mobilekit.core.plainManifest
import kotlin.test.assertEquals
import kotlin.test.assertTrue

/** The check of outputs against tests/android/check_vectors.py. */
class OutputVectorsTest {
    @Test
    fun `outputs hold and fail as in Python, by the same figures`() {
        val cases = Vectors.read("checks.json").flatMap { Vectors.listOf<Map<String, Any?>>(it["cases"]) }
        assertTrue(cases.size >= 50)
        for (case in cases) {
            val outputs =
                Vectors.listOf<List<Number>>(case["outputs"]).map { row ->
                    FloatArray(row.size) { row[it].toFloat() }
                }
            val row = checkOutput(manifest(case), outputs)
            assertEquals(case["passed"], row.passed, "$row $case")
            assertEquals(case["measured"].toString().replace("%", " %"), row.measured, "$case")
        }
    }

    private fun manifest(case: Map<String, Any?>): Manifest {
        val (task, size) = case["task"] as String to case["size"]
        val perToken = task == "token-classification" || task == "question-answering"
        val name = if (task == "sentence-embedding") "embedding" else "logits"
        val shape = if (perToken) listOf(1L, "length", size) else listOf(1L, size)
        val inputs = Vectors.listOf<Map<String, Any?>>(plainManifest["inputs"])
        val asked = if (task == "fill-mask") listOf(inputs.first() + ("name" to "predict_mask")) else emptyList()
        val golden =
            Vectors.listOf<Map<String, Any?>>(case["golden"]).map {
                val ids = listOf(2L, 5L, 3L)
                val input = mapOf("text" to "x", "text_pair" to null, "length" to 8L, "input_ids" to ids)
                input + mapOf("token_type_ids" to ids.map { 0L }, "predict" to if (task == "fill-mask") 1L else null) +
                    it
            }
        val tolerance = mapOf("metric" to case["metric"], "limit" to case["limit"])
        return manifestOf(
            "task" to task,
            "problem_type" to case["problem"],
            "labels" to case["labels"],
            "inputs" to inputs + asked,
            "outputs" to listOf(mapOf("name" to name, "dtype" to "float32", "shape" to shape, "meaning" to "")),
            "golden" to golden,
            "tolerance" to mapOf("host" to tolerance, "device" to tolerance),
        )
    }
}
