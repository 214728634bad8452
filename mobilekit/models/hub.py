"""Models of the Hugging Face hub: only the files that are needed, pinned to a commit."""

from __future__ import annotations

from pathlib import Path

from mobilekit.errors import InputError

_FILES = ["*.json", "*.safetensors", "vocab.txt", "*/config.json", "*/*.safetensors"]


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
