"""The lines of an artifact's README that run it in an iOS app."""

from __future__ import annotations

from export.registry import Emission

_VALUES = {"input_ids": "ids", "attention_mask": "mask", "token_type_ids": "types", "predict_mask": "asked"}
_TEXT = """Swift; drag `{file}` into the Xcode project, which makes the class `{class}`:

```swift
let configuration = MLModelConfiguration()
%slet model = try MLModel(contentsOf: {class}.urlOfModelInThisBundle, configuration: configuration)

// %s: MLMultiArray(shape: [1, {length}], dataType: .int32), padded.
let inputs = try MLDictionaryFeatureProvider(dictionary: [%s])
let output = try model.prediction(from: inputs).featureValue(for: "{output}")?.multiArrayValue  // {size} values
```
"""


def usage(emission: Emission) -> str:
    """Swift for the inputs and the entry points that the package has; functions came with iOS 18."""
    named = set(emission.entry_points.values()) - {"", "main"}
    function = 'configuration.functionName = "{entry}"\n' if named else ""
    names = [_VALUES[name] for name in emission.input_names]
    pairs = ", ".join(f'"{name}": {_VALUES[name]}' for name in emission.input_names)
    return _TEXT % (function, " and ".join(names), pairs)
