"""Masked words (Devlin et al. 2019, section 3.1), against the text, a teacher's distribution, or both.

With a teacher it is DistilBERT's triple loss (Sanh et al. 2019, section 2): the teacher's softened distribution over
the vocabulary, the masked words, and the direction of the hidden states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mobilekit.models.config import EncoderConfig
from mobilekit.models.model import EncoderWithHead, Model
from mobilekit.training.features import IGNORED, Features, collate
from mobilekit.training.masking import Masker
from mobilekit.training.objectives.soft import soft_cross_entropy
from mobilekit.training.passages import Passages

COSINE_LAYERS = ("last", "embedding")
_LEAST_SPREAD = 1e-3
_READ = 4


@dataclass(frozen=True)
class WordWeights:
    """Of the parts of the loss. soft and cosine need a teacher, pair a pair task."""

    words: float = 1.0
    soft: float = 0.0
    cosine: float = 0.0
    pair: float = 1.0


@dataclass
class WordOutputs:
    """words: logits of the masked tokens, [asked, vocabulary]. pair: logits [batch, 2], None without a pair task.
    last, embeddings: [batch, length, H], E wide for the embeddings."""

    words: Tensor
    pair: Tensor | None
    last: Tensor
    embeddings: Tensor


class PairHead(nn.Module):
    """Whether segments follow each other, or stand in their order: dense, tanh, two answers.

    BERT and ALBERT read the first token alone. Encoders that were trained to be read by their mean (E5, MiniLM) tell it
    next to nothing of the order, so the means of both segments and their difference are read beside it. And nearly all
    of such states is the same in every text: `begin` takes that out, or a fresh head would see nothing else for
    thousands of steps.
    """

    centre: Tensor
    spread: Tensor

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.dense, self.answer = nn.Linear(_READ * size, size), nn.Linear(size, 2)
        # Not saved: a run that goes on finds them again.
        self.register_buffer("centre", torch.zeros(_READ * size), persistent=False)
        self.register_buffer("spread", torch.ones(_READ * size), persistent=False)

    def forward(self, states: Tensor, segments: Tensor) -> Tensor:
        """[batch, length, H]; integer [batch, length], 0 and 1, -1 where there is none -> [batch, 2]."""
        read = (self.read(states, segments) - self.centre) / self.spread
        return self.answer(torch.tanh(self.dense(read)))

    def read(self, states: Tensor, segments: Tensor) -> Tensor:
        """First token, mean of the first segment, mean of the second, their difference: [batch, 4 H]."""
        one, other = (_mean(states, segments == kind) for kind in (0, 1))
        return torch.cat([states[:, 0], one, other, one - other], dim=-1)

    def begin(self, read: Tensor) -> None:
        """Let what is read have mean 0 and spread 1 as it does in these examples, [examples, 4 H]."""
        self.centre.copy_(read.mean(0))
        self.spread.copy_(read.std(0, correction=0).clamp_min(_LEAST_SPREAD))


def _mean(states: Tensor, chosen: Tensor) -> Tensor:
    """Of the chosen tokens; [batch, length, H], bool [batch, length] -> [batch, H]."""
    weights = chosen.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp_min(1)


class WordModule(nn.Module):
    """A fill-mask model as it is pre-trained: its head reads masked tokens alone. frozen: the encoder stays as it is
    (and in evaluation mode), so that only heads learn."""

    def __init__(self, module: EncoderWithHead, pair: PairHead | None = None, frozen: bool = False) -> None:
        super().__init__()
        self.module, self.pair, self.frozen = module, pair, frozen

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        asked: Tensor,
        token_type_ids: Tensor | None = None,
        segments: Tensor | None = None,
    ) -> WordOutputs:
        """asked: bool [batch, length], the tokens whose words are wanted. segments: as `PairHead` takes them."""
        if self.frozen:
            self.module.encoder.eval()
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            out = self.module.encoder(input_ids, attention_mask, token_type_ids)
        pair = None
        if self.pair is not None:
            assert segments is not None, "the passages are no pairs"
            pair = self.pair(out.last, segments).float()
        words = self.module.head(out.last[asked], attention_mask).float()
        return WordOutputs(words, pair, out.last, out.embeddings)


@dataclass(frozen=True)
class Guide:
    """The teacher of masked words. model: with a fill-mask head. cosine_layer: what is compared in direction, the last
    layer's states or the embeddings' output."""

    model: Model
    temperature: float = 2.0
    cosine_layer: str = "last"


def cosine_distance(ours: Tensor, theirs: Tensor, mask: Tensor) -> Tensor:
    """1 - cos of the states of each token, summed over all tokens. [batch, length, H] each; mask [batch, length]."""
    return ((1 - functional.cosine_similarity(ours.float(), theirs.float(), dim=-1)) * mask).sum()


class Words:
    """Loss of masked words in passages that are masked anew in each step. The module is a `WordModule`."""

    def __init__(
        self,
        model: Model,
        passages: Passages,
        masker: Masker,
        weights: WordWeights = WordWeights(),
        guide: Guide | None = None,
    ) -> None:
        self._config, self._passages, self._masker = model.config, passages, masker
        self._weights, self._guide = weights, guide
        self.lengths = list(passages.lengths)
        self._seed = 0

    def redraw(self, seed: int) -> None:
        """From now on passages are drawn and masked by `seed`."""
        self._seed = seed

    def count(self, indices: Sequence[int]) -> list[float]:
        """Masked tokens as many as are aimed at, all tokens, inputs."""
        kept = self._passages.protected + self._passages.special
        share = self._masker.masking.share
        return [
            float(sum(max(1, round(share * (self.lengths[i] - kept))) for i in indices)),
            float(sum(self.lengths[i] for i in indices)),
            float(len(indices)),
        ]

    def loss(self, module: nn.Module, indices: Sequence[int], device: torch.device) -> Tensor:
        """[3]: of masked words (and the teacher's), of states, of pairs, each summed."""
        batch, pairs = draw_batch(self._passages, indices, self._masker, self._config, self._seed)
        batch = {name: values.to(device) for name, values in batch.items()}
        target = batch.pop("target")
        asked = target != IGNORED
        segments = batch.pop("segments", None)
        out: WordOutputs = module(asked=asked, segments=segments, **batch)
        words = self._weights.words * functional.cross_entropy(out.words, target[asked], reduction="sum")
        states, pair = torch.zeros((), device=device), torch.zeros((), device=device)
        if self._guide is not None:
            soft, states = self._taught(self._guide, out, batch, asked)
            words = words + soft
        if out.pair is not None:
            pair = self._weights.pair * functional.cross_entropy(
                out.pair, torch.tensor(pairs, device=device), reduction="sum"
            )
        return torch.stack([words, states, pair])

    def _taught(self, guide: Guide, out: WordOutputs, batch: dict[str, Tensor], asked: Tensor) -> tuple[Tensor, Tensor]:
        teacher = guide.model.module.to(asked.device).eval()
        own = dict(batch)
        if not guide.model.config.reads_token_types:
            own.pop("token_type_ids", None)
        with torch.no_grad():
            found = teacher.encoder(**own)
            words = teacher.head(found.last[asked], batch["attention_mask"]).float()
        soft = self._weights.soft * soft_cross_entropy(out.words, words[None], guide.temperature)
        last = guide.cosine_layer == "last"
        ours, theirs = (out.last, found.last) if last else (out.embeddings, found.embeddings)
        if not self._weights.cosine:
            return soft, torch.zeros((), device=asked.device)
        return soft, self._weights.cosine * cosine_distance(ours, theirs, batch["attention_mask"])


def draw_batch(
    passages: Passages, indices: Sequence[int], masker: Masker, config: EncoderConfig, seed: int
) -> tuple[dict[str, Tensor], list[int]]:
    """Passages drawn and masked, as `collate` gives them, and the answers of their pair task; with `segments` [batch,
    longest] where they have one.

    Each is a function of `seed` and its index alone, so that pieces of a batch, in whatever process, are as they are in
    the whole one.
    """
    features, pairs, segments = [], [], []
    for i in indices:
        rng = np.random.default_rng([seed, i])
        passage = passages.draw(i, rng)
        # The first token is a special one; the prefix comes after it.
        kept = 1 + passages.protected if passages.protected else 0
        masked = masker.mask(passage.ids[kept:], rng)
        target = np.concatenate([np.full(kept, IGNORED, np.int64), masked.target])
        features.append(Features(np.concatenate([passage.ids[:kept], masked.ids]), passage.types, target))
        if passage.pair is not None and passage.segments is not None:
            pairs.append(passage.pair)
            segments.append(torch.from_numpy(passage.segments))
    batch = collate(features, config)
    if segments:
        batch["segments"] = nn.utils.rnn.pad_sequence(segments, batch_first=True, padding_value=-1)
    return batch, pairs
