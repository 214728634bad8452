"""Make the documentation's pictures of the Android app out of what its tests drew; `make android-screenshots` runs it.

    PYTHONPATH=. .venv/bin/python scripts/android_screenshots.py DRAWINGS docs/images/android

DRAWINGS has NAME-DEVICE-COLOURS.png of each screen. Of each screen one picture a device: light beside dark, small.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from PIL import Image

# Pixels of each of the two halves, and between them; bytes of a picture.
WIDTHS = {"phone": 360, "tablet": 800}
GAP = 16
MOST_BYTES = 100_000
COLOURS = 40
# Names of what tablets show otherwise than phones: two columns.
ON_TABLETS = ("artifacts", "benchmark-results", "question-answering", "sentence-embedding")


def picture(drawings: Path, screen: str, device: str) -> Image.Image:
    """A screen in light beside itself in dark."""
    halves = []
    for colours in ("light", "dark"):
        drawn = Image.open(drawings / f"{screen}-{device}-{colours}.png").convert("RGB")
        width = WIDTHS[device]
        halves.append(drawn.resize((width, round(drawn.height * width / drawn.width)), Image.Resampling.LANCZOS))
    # White between them, which is gone on a white page.
    whole = Image.new("RGB", (sum(half.width for half in halves) + GAP, max(half.height for half in halves)), "white")
    left = 0
    for half in halves:
        whole.paste(half, (left, 0))
        left += half.width + GAP
    return whole.quantize(COLOURS, dither=Image.Dither.NONE)


def main() -> int:
    """Write the pictures anew; pictures of screens that are no longer drawn go."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drawings", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    screens = sorted(
        file.name.removesuffix("-phone-light.png") for file in arguments.drawings.glob("*-phone-light.png")
    )
    if not screens:
        print(f"error: {arguments.drawings}: no drawings; run the tests with -Dscreenshots=FOLDER.", file=sys.stderr)
        return 2
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for old in arguments.folder.glob("*.png"):
        old.unlink()
    for screen in screens:
        for device in ("phone", "tablet") if screen in ON_TABLETS else ("phone",):
            file = arguments.folder / f"{screen}-{device}.png"
            picture(arguments.drawings, screen, device).save(file, optimize=True)
            if file.stat().st_size > MOST_BYTES:
                print(f"error: {file}: {file.stat().st_size} bytes; at most {MOST_BYTES}.", file=sys.stderr)
                return 1
            print(f"{file}: {file.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
