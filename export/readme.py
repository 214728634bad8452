"""The README inside an artifact: what it is, and the lines that run it in an app and in Python."""

from __future__ import annotations

from export.manifest import OUTPUTS, Subject, file_name, output_shape
from export.registry import Emission, Target
from mobilekit.artifact import PREDICT_MASK, Json
from mobilekit.models.config import HeadConfig
from mobilekit.models.tasks import TASKS

_TEMPLATE = """# {title}, {scheme}, for {target}

{task} model `{source}`{license}, exported by mobilekit as `{file}`.

- Inputs: {inputs}, int32 of shape [1, length]; output `{output}`, float32 {shape}: {meaning}. Lengths: {lengths}.
- Take the smallest length that holds the ids and fill the rest with pad id {pad}{mask}.{prefix}{labels}{asked}
- `tokenizer.json` makes the ids; `manifest.json` says everything else, with golden inputs and outputs for a self-check.
- Needs {engine} {version} or newer{minimum_os}.

## In an app

{usage}
## In Python

```python
from mobilekit import open_artifact

with open_artifact("path/to/this/folder") as runner:
    print(runner([{ids}]{more}))
```

or `python -m mobilekit run path/to/this/folder {example}`; `python -m mobilekit check path/to/this/folder` proves it.
"""

_ASKED = f" `{PREDICT_MASK}` is 1 at the one mask token that is asked for and 0 elsewhere."
_SYSTEMS = {"ios": "iOS", "macos": "macOS"}


def readme(subject: Subject, target: Target, emission: Emission, golden: Json) -> str:
    """Markdown for the artifact's folder; golden: the manifest's entry that the example runs."""
    model, head = subject.model, subject.compressed.head
    longest = max(emission.entry_points)
    shape = output_shape(subject.compressed)
    sizes = [longest if size == "length" else size for size in shape[1:]]
    usage = target.usage(emission).replace("{file}", file_name(target, subject)).replace("{output}", head.output_name)
    usage = usage.replace("{class}", file_name(target, subject).removesuffix(target.suffix))
    values = {"length": longest, "entry": emission.entry_points[longest], "size": " x ".join(map(str, sizes))}
    for name, value in {**values, "kotlin_output": _kotlin_array([1, *sizes])}.items():
        usage = usage.replace(f"{{{name}}}", str(value))
    systems = ", ".join(f"{_SYSTEMS.get(n, n)} {version}" for n, version in emission.minimum_os.items())
    several = len(set(emission.entry_points.values())) > 1
    return _TEMPLATE.format(
        title=model.title or model.name,
        scheme=subject.compressed.scheme,
        target=target.name,
        task=head.task.replace("-", " ").capitalize(),
        source=model.source.id,
        license=f" ({model.source.license})" if model.source.license else "",
        file=file_name(target, subject),
        inputs=", ".join(f"`{name}`" for name in emission.input_names),
        output=head.output_name,
        shape=f"[{', '.join(map(str, shape))}]",
        meaning=OUTPUTS[head.task],
        lengths=", ".join(f"{n} (`{e}`)" if several else str(n) for n, e in sorted(emission.entry_points.items())),
        pad=model.config.pad_id,
        mask=" and mask 0" if "attention_mask" in emission.input_names else "",
        prefix=f" Put `{model.prefix}` before every text." if model.prefix else "",
        labels=f" Labels, in order: {', '.join(head.labels)}." if head.labels else "",
        engine=emission.engine,
        version=emission.engine_version,
        minimum_os=f" ({systems})" if systems else "",
        usage=usage,
        ids=", ".join(map(str, golden["input_ids"])),
        asked=_ASKED if TASKS[head.task].asks_token else "",
        more=_more(golden, emission, head),
        example=_example(golden, head, model.tokenizer.mask_token),
    )


def _more(golden: Json, emission: Emission, head: HeadConfig) -> str:
    """What a call needs beside the ids."""
    types = ", ".join(map(str, golden["token_type_ids"]))
    made = f", token_type_ids=[{types}]" if golden["text_pair"] and "token_type_ids" in emission.input_names else ""
    return made + (f", predict={golden['predict']}" if TASKS[head.task].asks_token else "")


def _example(golden: Json, head: HeadConfig, mask: str | None) -> str:
    if head.task == "question-answering":
        return '"Who wrote it?" --pair "It was written by Ada."'
    return f'"some {mask} text"' if head.task == "fill-mask" else '"some text"'


def _kotlin_array(sizes: list[int | str]) -> str:
    """`Array(1) { FloatArray(3) }` for [1, 3]."""
    made = f"FloatArray({sizes[-1]})"
    for size in reversed(sizes[:-1]):
        made = f"Array({size}) {{ {made} }}"
    return made
