"""A small training run, for tests here and as a program: OUT [--resume] [--slow] [--no-dropout] [--rows=N]."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch

from mobilekit.models.load import load
from mobilekit.text.data.rows import TextRow
from mobilekit.training.features import encode_rows
from mobilekit.training.loop import Loop
from mobilekit.training.objectives.supervised import Supervised
from mobilekit.training.settings import Settings

_WORDS = {0: ("bad", "not", "this", "film"), 1: ("good", "great", "very", "film")}
ROWS = [TextRow(" ".join(_WORDS[i % 2][(i * k) % 4] for k in range(1, 2 + i % 7)), None, i % 2) for i in range(96)]
SETTINGS = Settings(epochs=4, batch=16, learning_rate=1e-3, save_every=2, precision="fp32")
# What `accelerate launch` wants to hear to start two processes without a GPU: told `--cpu` it would start one.
LAUNCH = "-m accelerate.commands.launch --multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no"
LAUNCH += " --dynamo_backend no"


def run(out: Path, resume: bool, slow: bool, dropout: bool, rows: int) -> None:
    """Train and write the weights to `out`/weights."""
    from safetensors.torch import save_file

    torch.use_deterministic_algorithms(True)
    model = load("tiny-classifier")
    for module in model.module.modules():
        if isinstance(module, torch.nn.Dropout) and not dropout:
            module.p = 0.0
    report = (lambda text: time.sleep(0.2)) if slow else (lambda text: None)
    loop = Loop(model.module, Supervised(model, encode_rows(model, ROWS[:rows], 32)), SETTINGS, out, None, report)
    loop.run(resume)
    if loop.accelerator.is_main_process:
        (out / "processes").write_text(str(loop.accelerator.num_processes))
        save_file({name: p.detach().contiguous() for name, p in model.module.named_parameters()}, out / "weights")


if __name__ == "__main__":
    options = sys.argv[2:]
    rows = [int(option.split("=")[1]) for option in options if option.startswith("--rows=")] or [len(ROWS)]
    run(Path(sys.argv[1]), "--resume" in options, "--slow" in options, "--no-dropout" not in options, rows[0])
