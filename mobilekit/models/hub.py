"""Models of the Hugging Face hub: only the files that are needed, pinned to a commit."""

from __future__ import annotations

import re
from pathlib import Path

from mobilekit.errors import InputError
from mobilekit.text.tokenizer import TOKENIZER_FILES

# By name: repositories hold the same weights many times over (onnx/, openvino/, tf_model.h5, ...), and `*` crosses
# folders here. Modules of sentence-transformers have numbered folders.
_PARTS = ("config.json", "model.safetensors")
_TRANSFORMER = (
    *_PARTS,
    "model.safetensors.index.json",
    "model-*-of-*.safetensors",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "sentence_bert_config.json",
    *TOKENIZER_FILES,
)
_FILES = [
    *_TRANSFORMER,
    "README.md",
    "modules.json",
    "config_sentence_transformers.json",
    *(f"[0-9]_*/{name}" for name in _PARTS),
    *(f"0_Transformer/{name}" for name in _TRANSFORMER),
]


_LICENSE = re.compile(r"^license:\s*['\"]?([A-Za-z0-9.+-]{1,60})['\"]?\s*$", re.MULTILINE)
# The front matter of a model card is its first lines.
_CARD_BYTES = 16_384


def license_of(folder: Path) -> str:
    """The licence that a repository's model card names, "" where it names none."""
    card = folder / "README.md"
    if not card.is_file():
        return ""
    with card.open("rb") as file:
        text = file.read(_CARD_BYTES).decode("utf-8", "replace")
    head = text.split("\n---", 1)[0] if text.startswith("---") else ""
    found = _LICENSE.search(head)
    return found.group(1) if found else ""


def download(repository: str, revision: str | None) -> tuple[Path, str]:
    """Fetch a repository's configuration, tokenizer and safetensors; returns its folder and commit.

    Raises InputError when there is no such repository or no network.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    try:
        folder = Path(snapshot_download(repository, revision=revision, allow_patterns=_FILES))
    except HFValidationError as error:
        raise InputError(f"'{repository}' is neither a folder nor a hub id ({error}).") from error
    except RepositoryNotFoundError as error:
        raise InputError(f"'{repository}': no folder of that name, and the hub has no such public model.") from error
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        raise InputError(
            f"'{repository}': no folder of that name, and the hub cannot be reached (nor is it in the local cache); "
            "check the network, or give a folder."
        ) from error
    # A snapshot's folder is named by its commit.
    return folder, folder.name
