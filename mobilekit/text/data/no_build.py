"""A build back end (PEP 517) that builds nothing and runs nothing of the source archive.

`pip download` asks an archive's back end for its metadata, and for an old archive that is setuptools, which runs its
setup.py. `fetch` puts a copy of this file in the place of `setuptools.build_meta` for that one call: the metadata are
copied from the archive's own PKG-INFO. Only the standard library is imported, for it runs where we are not installed.
"""

from __future__ import annotations

import sys
from email.parser import HeaderParser
from pathlib import Path

# The name by which pip asks for the back end of an archive without a pyproject.toml.
__legacy__ = sys.modules[__name__]


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: object = None) -> str:
    """Write NAME-VERSION.dist-info/METADATA, a copy of PKG-INFO, and return the folder's name."""
    text = Path("PKG-INFO").read_text(encoding="utf-8")
    headers = HeaderParser().parsestr(text)
    folder = f"{headers['Name'].replace('-', '_')}-{headers['Version']}.dist-info"
    (Path(metadata_directory) / folder).mkdir()
    (Path(metadata_directory) / folder / "METADATA").write_text(text, encoding="utf-8")
    return folder


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    """Refuse: the archive is fetched and never built."""
    raise RuntimeError("mobilekit fetches this archive and does not build it")
