"""The lines of an artifact's README that run it in an Android app."""

USAGE = """Kotlin, with `org.pytorch:executorch-android` (a file path is needed: copy the asset to `filesDir` once):

```kotlin
val module = Module.load(File(context.filesDir, "{file}").path)
val shape = longArrayOf(1, {length})

// ids, mask and types: IntArray({length}), padded.
val inputs = listOf(ids, mask, types).map { EValue.from(Tensor.fromBlob(it, shape)) }
val {output} = module.execute("{entry}", *inputs.toTypedArray())[0].toTensor().dataAsFloatArray
```

Never overwrite the file in place while it is loaded: it is mapped into memory.
"""
