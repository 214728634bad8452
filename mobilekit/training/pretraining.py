"""Learning from plain text: what `pretrain` and the recipes that begin with it share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from mobilekit.evaluation.intervals import Interval, wilson_of_groups
from mobilekit.models.config import HeadConfig
from mobilekit.models.families.registry import families
from mobilekit.models.heads import FillMask
from mobilekit.models.model import EncoderWithHead, Model
from mobilekit.models.rehead import with_head
from mobilekit.training.features import IGNORED
from mobilekit.training.masking import Masker
from mobilekit.training.objectives.words import Guide, WordModule, Words, WordWeights, draw_batch
from mobilekit.training.passages import Passages, Texts
from mobilekit.training.recipes.registry import Lesson
from mobilekit.training.settings import Settings
from mobilekit.training.stages import Judge, Stage
from mobilekit.training.students.copying import copy_head

_BATCH = 32
_SHOWN = 256
_SEED = 20
# A token that the text does not have may come all the same.
_SMOOTHING = 0.1


def word_head(model: Model) -> HeadConfig:
    """The fill-mask head that the model's family has."""
    return HeadConfig("fill-mask", activation=families()[model.family].word_activation or model.config.activation)


def as_word_model(model: Model, teacher: Model | None, counts: NDArray[np.int64] | None, seed: int) -> Model:
    """A fill-mask model on the *same* encoder module; a model that is one already, itself.

    The head is the teacher's where it fits, else fresh, with the logarithms of `counts` ([vocabulary]) as its bias, so
    that it begins with how often words occur.
    """
    if model.head.task == "fill-mask":
        return model
    made = with_head(model, word_head(model), seed)
    made.module.encoder = model.module.encoder
    made.module.tie()
    if counts is not None:
        start_bias(made.module, counts)
    if teacher is not None:
        copy_head(teacher, made)
    return made


def start_bias(module: EncoderWithHead, counts: NDArray[np.int64]) -> None:
    """Let the decoder's bias be the logarithm of how often each token occurs."""
    shares = (counts + _SMOOTHING) / (counts + _SMOOTHING).sum()
    assert isinstance(module.head, FillMask)
    with torch.no_grad():
        module.head.decoder.bias.copy_(torch.from_numpy(np.log(shares)))


def token_counts(passages: Texts, size: int) -> NDArray[np.int64]:
    """How often each token occurs, int64 [size]; special tokens count too, the model's prefix does not."""
    counts = np.zeros(size, np.int64)
    skipped = 1 + passages.protected if passages.protected else 0
    for passage in passages:
        np.add.at(counts, passage.ids[skipped:], 1)
    return counts


def words_stage(lesson: Lesson, settings: Settings, weights: WordWeights, guide: Guide | None = None) -> Stage:
    """The stage on plain text: masked words, and a teacher's distribution where there is a `guide`."""
    texts = Texts(lesson.student, lesson.texts, settings.length, lesson.folder)
    # A fill-mask model has its bias already.
    fresh = lesson.student.head.task != "fill-mask"
    counts = token_counts(texts, lesson.student.config.vocab_size) if fresh else None
    model = as_word_model(lesson.student, lesson.general, counts, settings.seed)
    masker = Masker(model.tokenizer, model.config.vocab_size)
    judge = None
    if lesson.held_out:
        held_out = Texts(model, lesson.held_out, settings.length)
        judge = word_judge(model, WordModule(model.module), held_out, masker)
    return Stage(
        "plain text",
        lambda: Words(model, texts, masker, weights, guide),
        WordModule(model.module),
        settings,
        judge=judge,
    )


@dataclass(frozen=True)
class WordFigures:
    """How well masked words are guessed, and pairs told apart. loss, pair_loss: nats a word, a pair. accuracy,
    pair_accuracy: shares; words, pairs: how many. pair_interval: of the share; draws of one passage are not independent
    of each other."""

    loss: float
    accuracy: float
    words: int
    pair_accuracy: float | None = None
    pairs: int = 0
    pair_loss: float = 0.0
    pair_interval: Interval | None = None

    def values(self) -> dict[str, float]:
        """As metrics."""
        found = {"masked_loss": self.loss, "masked_accuracy": self.accuracy}
        pair = {} if self.pair_accuracy is None else {"pair_accuracy": self.pair_accuracy, "pair_loss": self.pair_loss}
        return found | pair


def word_judge(model: Model, module: WordModule, passages: Passages, masker: Masker) -> Judge:
    """Held-out loss, of masked words and of pairs as they are trained: the least is the best."""

    def judge() -> tuple[float, dict[str, float]]:
        figures = measure_words(model, module, passages, masker)
        return -figures.loss - figures.pair_loss, figures.values()

    return judge


def measure_words(model: Model, module: WordModule, passages: Passages, masker: Masker, rounds: int = 1) -> WordFigures:
    """Figures on passages, masked in a way that is always the same. rounds: how often each is drawn."""
    device = next(module.parameters()).device
    was_training = module.training
    module.eval()
    loss, right, words, pair_loss = 0.0, 0, 0, 0.0
    pairs = np.zeros(len(passages.lengths))
    order = sorted(range(len(passages.lengths)), key=lambda i: -passages.lengths[i])
    with torch.no_grad():
        for number, start in itertools.product(range(rounds), range(0, len(order), _BATCH)):
            indices = order[start : start + _BATCH]
            batch, answers = draw_batch(passages, indices, masker, model.config, _SEED + number)
            batch = {name: values.to(device) for name, values in batch.items()}
            target = batch.pop("target")
            asked = target != IGNORED
            out = module(asked=asked, **batch)
            loss += float(functional.cross_entropy(out.words, target[asked], reduction="sum"))
            right += int((out.words.argmax(-1) == target[asked]).sum())
            words += int(asked.sum())
            if out.pair is not None:
                said, wanted = out.pair.cpu(), torch.tensor(answers)
                pair_loss += float(functional.cross_entropy(said, wanted, reduction="sum"))
                pairs[indices] += (said.argmax(-1) == wanted).numpy()
    module.train(was_training)
    figures = WordFigures(loss / max(1, words), right / max(1, words), words)
    if module.pair is None:
        return figures
    count, shares = pairs.size * rounds, pairs / rounds
    return replace(
        figures,
        pair_accuracy=float(shares.mean()),
        pairs=count,
        pair_loss=pair_loss / count,
        pair_interval=wilson_of_groups(shares, rounds),
    )


def begin_pairs(model: Model, module: WordModule, passages: Passages, masker: Masker) -> None:
    """Show some pairs to a fresh pair head, for it to know what is the same in all of them (`PairHead.begin`)."""
    assert module.pair is not None
    was_training = module.training
    module.eval()
    count, read = len(passages.lengths), []
    drawn = np.random.default_rng(_SEED).permutation(count)[:_SHOWN].tolist()
    with torch.no_grad():
        for start in range(0, len(drawn), _BATCH):
            batch, _ = draw_batch(passages, drawn[start : start + _BATCH], masker, model.config, _SEED)
            out = module.module.encoder(batch["input_ids"], batch["attention_mask"], batch.get("token_type_ids"))
            read.append(module.pair.read(out.last.float(), batch["segments"]))
        module.pair.begin(torch.cat(read))
    module.train(was_training)


def unigram_entropy(counts: NDArray[np.int64], special: Sequence[int]) -> float:
    """Entropy in nats of how often tokens occur, special ones left out: the loss of who knows no context."""
    own = counts.astype(np.float64)
    own[list(special)] = 0
    shares = own[own > 0] / own.sum()
    return float(-(shares * np.log(shares)).sum())
