"""The lines of an artifact's README that run it in an Android app."""

USAGE = """Kotlin, with `com.google.ai.edge.litert:litert` (uncompressed asset: `noCompress += "tflite"`):

```kotlin
val file = context.assets.openFd("{file}")
val model = FileInputStream(file.fileDescriptor).channel
    .map(FileChannel.MapMode.READ_ONLY, file.startOffset, file.declaredLength)
val interpreter = Interpreter(model, Interpreter.Options().setNumThreads(2))

// ids, mask and types: IntArray({length}), padded.
val inputs = mapOf<String, Any>(
    "input_ids" to arrayOf(ids), "attention_mask" to arrayOf(mask), "token_type_ids" to arrayOf(types))
val output = Array(1) { FloatArray({size}) }
interpreter.runSignature(inputs, mapOf<String, Any>("{output}" to output), "{entry}")
```
"""
