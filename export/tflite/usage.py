"""The lines of an artifact's README that run it in an Android app."""

from __future__ import annotations

from export.registry import Emission

_VALUES = {"input_ids": "ids", "attention_mask": "mask", "token_type_ids": "types", "predict_mask": "asked"}
_INTERPRETER = """Kotlin, with `com.google.ai.edge.litert:litert` (uncompressed asset: `noCompress += "tflite"`):

```kotlin
val file = context.assets.openFd("{file}")
val model = FileInputStream(file.fileDescriptor).channel
    .map(FileChannel.MapMode.READ_ONLY, file.startOffset, file.declaredLength)
val interpreter = Interpreter(model, Interpreter.Options().setNumThreads(2))

// {values}: IntArray({length}), padded.
val inputs = mapOf<String, Any>(
    {pairs})
val output = {kotlin_output}
interpreter.runSignature(inputs, mapOf<String, Any>("{output}" to output), "{entry}")
```
"""
_MEDIAPIPE = r"""
MediaPipe (`com.google.mediapipe:tasks-text` 0.10.18 or newer) opens the file as it is, {contents} included:

```kotlin
// Its tokenizer lowers A to Z and no more; this is the rest of what tokenizer.json does.
fun plain(text: String): String {
    val kept = text.replace(Regex("[\\t\\n\\r\\p{Z}]"), " ").replace(Regex("[\\p{Cc}\\p{Cf}\\p{Co}\\uFFFD]"), "")
    return Normalizer.normalize(kept, Normalizer.Form.NFD).replace(Regex("\\p{Mn}"), "").lowercase()
}

val task = {task}.createFromFile(context, "{file}")
{answer}
```
"""
# For each class: what the file carries for it, and how the answer is read.
_TASKS = {
    "TextClassifier": (
        "vocabulary and labels",
        "val scores = task.classify(plain(text)).classificationResult().classifications()[0].categories()",
    ),
    "TextEmbedder": (
        "vocabulary",
        "val embedding = task.embed(plain(text)).embeddingResult().embeddings()[0].floatEmbedding()",
    ),
}


def usage(emission: Emission) -> str:
    """Kotlin for the inputs that the file has, and for the task library that opens it, if one does."""
    names = [_VALUES[name] for name in emission.input_names]
    pairs = [f'"{name}" to arrayOf({_VALUES[name]})' for name in emission.input_names]
    made = _INTERPRETER.replace("{values}", " and ".join(names)).replace("{pairs}", ", ".join(pairs))
    if not emission.opened_by:
        return made
    contents, answer = _TASKS[emission.opened_by]
    more = _MEDIAPIPE.replace("{contents}", contents).replace("{task}", emission.opened_by)
    return made + more.replace("{answer}", answer)
