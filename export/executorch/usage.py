"""The lines of an artifact's README that run it in an Android app."""

from __future__ import annotations

from export.registry import Emission

_VALUES = {"input_ids": "ids", "attention_mask": "mask", "token_type_ids": "types", "predict_mask": "asked"}
_TEXT = """Kotlin, with `org.pytorch:executorch-android` (a file path is needed: copy the asset to `filesDir` once):

```kotlin
val module = Module.load(File(context.filesDir, "{file}").path)
val shape = longArrayOf(1, {length})

// %s: IntArray({length}), padded.
val inputs = listOf(%s).map { EValue.from(Tensor.fromBlob(it, shape)) }
val {output} = module.execute("{entry}", *inputs.toTypedArray())[0].toTensor().dataAsFloatArray
```

Never overwrite the file in place while it is loaded: it is mapped into memory.
"""


def usage(emission: Emission) -> str:
    """Kotlin for the inputs that the program has."""
    names = [_VALUES[name] for name in emission.input_names]
    return _TEXT % (" and ".join(names), ", ".join(names))
