"""The README inside an artifact: what it is, and the lines that run it in an app and in Python."""

from __future__ import annotations

from export.manifest import Subject, file_name
from export.registry import Emission, Target

_TEMPLATE = """# {title}, {scheme}, for {target}

{task} model `{source}`{license}, exported by mobilekit as `{file}`.

- Inputs: {inputs}, int32 of shape [1, length]; output `{output}`, float32 [1, {size}]. Lengths: {lengths}.
- Take the smallest length that holds the ids and fill the rest with pad id {pad}{mask}.{prefix}{labels}
- `tokenizer.json` makes the ids; `manifest.json` says everything else, with golden inputs and outputs for a self-check.
- Needs {engine} {version} or newer{minimum_os}.

## In an app

{usage}
## In Python

```python
from mobilekit import open_artifact

with open_artifact("path/to/this/folder") as runner:
    print(runner([{ids}]))
```

or `python -m mobilekit run path/to/this/folder "some text"`; `python -m mobilekit check path/to/this/folder` proves it.
"""

_SYSTEMS = {"ios": "iOS", "macos": "macOS"}


def readme(subject: Subject, target: Target, emission: Emission, golden_ids: list[int], size: int) -> str:
    """Markdown for the artifact's folder."""
    model, head = subject.model, subject.compressed.head
    longest = max(emission.entry_points)
    usage = target.usage(emission).replace("{file}", file_name(target, subject)).replace("{output}", head.output_name)
    usage = usage.replace("{class}", file_name(target, subject).removesuffix(target.suffix))
    for name, value in (("length", longest), ("entry", emission.entry_points[longest]), ("size", size)):
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
        size=size,
        lengths=", ".join(f"{n} (`{e}`)" if several else str(n) for n, e in sorted(emission.entry_points.items())),
        pad=model.config.pad_id,
        mask=" and mask 0" if "attention_mask" in emission.input_names else "",
        prefix=f" Put `{model.prefix}` before every text." if model.prefix else "",
        labels=f" Labels, in order: {', '.join(head.labels)}." if head.labels else "",
        engine=emission.engine,
        version=emission.engine_version,
        minimum_os=f" ({systems})" if systems else "",
        usage=usage,
        ids=", ".join(map(str, golden_ids)),
    )
