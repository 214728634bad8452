"""Peers of a model made, tried once and held against torch: what `bench` measures, and rows for those that failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring.contender import Contender
from benchmarks.measuring.service import Ids, packed
from benchmarks.peers.layout import Layout
from benchmarks.peers.registry import Peer, peer
from benchmarks.peers.stock_module import Stock, write_stock
from export.golden import golden_texts
from mobilekit.errors import InputError, MobilekitError, short
from mobilekit.models.model import Model
from mobilekit.models.threads import one_thread
from mobilekit.process import EngineProcess

Say = Callable[[str], None]
SERVICE = "benchmarks.peers.service:service"
# A reason stands in a table's row.
_REASON = 300


@dataclass(frozen=True)
class PreparedPeer:
    """A peer whose file is made. bytes: of that. seconds: of making it, importing the tool included.

    contender: None where it cannot be run here, and note says why. Else its outputs on some texts are held against the
    float model: cosine, the least of them, and difference, the largest of an element.
    """

    peer: Peer
    bytes: int
    seconds: float
    contender: Contender | None
    cosine: float | None = None
    difference: float | None = None
    note: str = ""


@dataclass(frozen=True)
class FailedPeer:
    """A peer that could not be made, loaded or run. bytes and seconds: of the file, where there is one."""

    peer: Peer
    reason: str
    bytes: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class _Job:
    """What all peers of a model have in common.

    tried: tokens and types of the texts that each is tried with; wanted: the float model's outputs for them.
    """

    source: Path
    stock: Stock
    lengths: tuple[int, ...]
    folder: Path
    threads: int
    filler: int
    as_they_come: Sequence[tuple[Ids, Ids]]
    tried: Sequence[tuple[Ids, Ids]]
    wanted: NDArray[np.float32]

    def process(self, name: str) -> EngineProcess:
        """A new process for a peer; its log stays in the folder."""
        return EngineProcess(SERVICE, self.folder / f"{name}.log", hide=("tensorflow",), threads=self.threads)


def prepare_peers(
    model: Model,
    names: Sequence[str],
    lengths: Sequence[int],
    work_folder: Path,
    threads: int,
    say: Say = lambda text: None,
    rows: Sequence[tuple[Ids, Ids]] = (),
) -> list[PreparedPeer | FailedPeer]:
    """Make each peer for `lengths`, load it once and run it, each in processes of its own.

    work_folder: takes the files and logs; a new one for each model. rows: a contender's texts as they come. Raises
    InputError when a name is unknown; what fails is a FailedPeer.
    """
    chosen = [peer(name) for name in names]
    work_folder = work_folder.resolve()
    source = work_folder / "stock"
    source.mkdir(parents=True)
    try:
        stock = write_stock(model, source)
    except InputError as error:
        return [FailedPeer(each, _reason(error, work_folder)) for each in chosen]
    lengths = tuple(sorted(lengths))
    tried = [(text.encoded.ids, text.encoded.type_ids) for text in golden_texts(model, lengths)]
    filler, wanted = int(tried[0][0][0]), _float_outputs(model, tried)
    job = _Job(source, stock, lengths, work_folder, threads, filler, rows, tried, wanted)
    return [_prepared(each, job, say) for each in chosen]


def _prepared(each: Peer, job: _Job, say: Say) -> PreparedPeer | FailedPeer:
    path, made = job.folder / f"{each.name}{each.suffix}", dict[str, Any]()
    try:
        each.check_installed()
        say(f"making {each.name}")
        params = {"peer": each.name, "source": str(job.source), "path": str(path), "lengths": list(job.lengths)}
        with job.process(each.name) as process:
            made = process.call("make", {**params, "threads": job.threads})[0]
        contender = _contender(each, path, tuple(made["lengths"]), job)
        outputs = _tried(contender, job)
    except (MobilekitError, OSError) as error:
        reason = _reason(error, job.folder)
        if made and not each.timed:
            # The file is whole: it is the reference interpreter that does not know the program.
            return PreparedPeer(each, int(made["bytes"]), float(made["seconds"]), None, note=reason)
        return FailedPeer(each, reason, made.get("bytes"), made.get("seconds"))
    size, seconds = int(made["bytes"]), float(made["seconds"])
    wrong = _wrong(outputs, job.wanted)
    if wrong:
        return FailedPeer(each, wrong, size, seconds)
    difference = float(np.abs(outputs - job.wanted).max())
    return PreparedPeer(each, size, seconds, contender, _least_cosine(outputs, job.wanted), difference)


def _contender(each: Peer, path: Path, made_lengths: tuple[int, ...], job: _Job) -> Contender:
    params = load_params(each.name, path, job.stock.layout(made_lengths), job.lengths)
    lengths = made_lengths or job.lengths
    return Contender(each.name, SERVICE, params, lengths, job.filler, job.as_they_come)


def load_params(name: str, path: Path, layout: Layout, lengths: Sequence[int]) -> dict[str, Any]:
    """What the service's `load` takes, but for the threads. lengths: at which it is going to run."""
    return {"peer": name, "path": str(path), **layout.params(), "warm": list(lengths)}


def _tried(contender: Contender, job: _Job) -> NDArray[np.float32]:
    """Outputs for the texts, [texts, size]."""
    with job.process(contender.name) as process:
        process.call("load", {**contender.params, "threads": job.threads})
        return np.asarray(process.call("outputs", {}, packed(job.tried))[1]["output"], np.float32)


def _float_outputs(model: Model, rows: Sequence[tuple[Ids, Ids]]) -> NDArray[np.float32]:
    import torch

    with torch.no_grad(), one_thread():
        outputs = [
            model.module(
                torch.from_numpy(ids)[None],
                token_type_ids=torch.from_numpy(types)[None] if model.config.reads_token_types else None,
            )
            for ids, types in rows
        ]
    return torch.cat(outputs).float().numpy()


def _wrong(outputs: NDArray[np.float32], wanted: NDArray[np.float32]) -> str:
    """Why outputs cannot be compared, or ""."""
    if outputs.shape != wanted.shape:
        return f"its outputs have {outputs.shape[1:]} values, the model's {wanted.shape[1:]}."
    return "" if np.isfinite(outputs).all() else "its output has values that are not finite."


def _least_cosine(outputs: NDArray[np.float32], wanted: NDArray[np.float32]) -> float:
    a, b = outputs.astype(np.float64), wanted.astype(np.float64)
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(((a * b).sum(1) / np.maximum(norms, 1e-12)).min())


def _reason(error: Exception, folder: Path) -> str:
    """The error's first line, without the folders of this machine."""
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return short(first.replace(f"{folder}/", ""), _REASON)
