"""Masked words, alone and with a teacher: parts of the loss by hand, shares, and who gets gradients."""

from __future__ import annotations

import math
from dataclasses import replace

import lessons
import numpy as np
import pytest
import torch
from torch.nn import functional
from training_program import ROWS

from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.text.data.rows import TextRow
from mobilekit.text.tokenizer import EncodedText
from mobilekit.training.features import IGNORED
from mobilekit.training.masking import Masker
from mobilekit.training.objectives.words import (
    Guide,
    PairHead,
    WordModule,
    Words,
    WordWeights,
    cosine_distance,
    draw_batch,
)
from mobilekit.training.passages import Passage, SegmentPairs, Texts

CPU = torch.device("cpu")


@pytest.fixture
def model() -> Model:
    return load("tiny-words")


def loss(model: Model, weights: WordWeights, guide: Guide | None = None) -> torch.Tensor:
    texts = Texts(model, ROWS, 64)
    masker = Masker(model.tokenizer, model.config.vocab_size)
    return Words(model, texts, masker, weights, guide).loss(WordModule(model.module).eval(), range(8), CPU)


def test_cosine_distance_by_hand() -> None:
    ours = torch.tensor([[[1.0, 0.0], [3.0, 4.0], [5.0, 5.0]]])
    theirs = torch.tensor([[[0.0, 2.0], [6.0, 8.0], [-1.0, -1.0]]])
    # A right angle, one direction, and padding.
    assert cosine_distance(ours, theirs, torch.tensor([[1, 1, 0]])).item() == pytest.approx(1.0, abs=1e-6)


def test_masked_loss_is_the_cross_entropy_of_masked_words_alone(model: Model) -> None:
    texts, masker = Texts(model, ROWS, 64), Masker(model.tokenizer, model.config.vocab_size)
    batch, pairs = draw_batch(texts, range(8), masker, model.config, 0)
    target = batch.pop("target")
    logits = model.module(**batch)
    expected = functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED, reduction="sum")
    got = loss(model, WordWeights())
    assert got[0].item() == pytest.approx(expected.item(), rel=1e-5) and got[1:].tolist() == [0, 0] and pairs == []


def test_soft_part_is_the_teachers_cross_entropy_at_the_temperature(model: Model) -> None:
    teacher = load("tiny-words")
    with torch.no_grad():
        for parameter in teacher.module.parameters():
            parameter.mul_(1.2)
    texts, masker = Texts(model, ROWS, 64), Masker(model.tokenizer, model.config.vocab_size)
    batch, _ = draw_batch(texts, range(8), masker, model.config, 0)
    asked = batch.pop("target") != IGNORED
    ours, theirs = model.module(**batch)[asked], teacher.module(**batch)[asked]
    expected = -4 * ((theirs / 2).softmax(-1) * (ours / 2).log_softmax(-1)).sum()
    got = loss(model, WordWeights(0, 1, 0), Guide(teacher, 2.0))
    assert got[0].item() == pytest.approx(expected.item(), rel=1e-4)


@pytest.mark.parametrize("layer", ["last", "embedding"])
def test_cosine_part_is_of_the_layer_asked_for(model: Model, layer: str) -> None:
    teacher = load("tiny-words")
    with torch.no_grad():
        teacher.module.encoder.embeddings.norm.weight.mul_(torch.linspace(0.5, 1.5, 64))
        teacher.module.encoder.layers[1].ffn.norm.weight.mul_(torch.linspace(0.1, 2, 64))
    texts, masker = Texts(model, ROWS, 64), Masker(model.tokenizer, model.config.vocab_size)
    batch, _ = draw_batch(texts, range(8), masker, model.config, 0)
    batch.pop("target")
    ours, theirs = model.module.encoder(**batch), teacher.module.encoder(**batch)
    states = (ours.last, theirs.last) if layer == "last" else (ours.embeddings, theirs.embeddings)
    expected = ((1 - functional.cosine_similarity(*states, dim=-1)) * batch["attention_mask"]).sum()
    got = loss(model, WordWeights(0, 0, 2), Guide(teacher, 2.0, layer))
    assert got[1].item() == pytest.approx(2 * expected.item(), rel=1e-4) and expected > 0.01


def test_parts_are_weighted(model: Model) -> None:
    teacher = load("tiny-words")
    with torch.no_grad():
        teacher.module.encoder.layers[0].ffn.up.weight.mul_(1.5)
    guide = Guide(teacher)
    words, soft = loss(model, WordWeights(1, 0, 0), guide)[0], loss(model, WordWeights(0, 1, 0), guide)[0]
    both = loss(model, WordWeights(2, 5, 1), guide)
    assert both[0].item() == pytest.approx(2 * words.item() + 5 * soft.item(), rel=1e-5)


def test_gradients_reach_the_student_and_nothing_of_the_teacher(model: Model) -> None:
    teacher = load("tiny-words")
    loss(model, WordWeights(2, 5, 1), Guide(teacher)).sum().backward()  # type: ignore[no-untyped-call]
    named = dict(model.module.named_parameters())
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for n, p in named.items() if "key.bias" not in n)
    assert all(p.grad is None for p in teacher.module.parameters())


def test_a_frozen_encoder_gets_no_gradient_and_no_dropout(model: Model) -> None:
    module = WordModule(model.module, None, frozen=True).train()
    texts, masker = Texts(model, ROWS, 64), Masker(model.tokenizer, model.config.vocab_size)
    objective = Words(model, texts, masker)
    losses = [objective.loss(module, range(4), CPU).sum() for _ in range(2)]
    losses[0].backward()  # type: ignore[no-untyped-call]
    assert losses[0].item() == losses[1].item()
    got = {n for n, p in model.module.named_parameters() if p.grad is not None and p.grad.abs().sum() > 0}
    # The decoder is the token table: it learns through the decoder, which `pretrain --head-only` freezes with the rest.
    assert got == {
        "encoder.embeddings.token.weight",
        "head.decoder.bias",
        "head.norm.bias",
        "head.norm.weight",
        "head.transform.bias",
        "head.transform.weight",
    }


def test_pair_head_reads_first_token_and_both_segments_without_padding(model: Model) -> None:
    head, width = PairHead(model.config), model.config.hidden_size
    states = torch.randn(2, 5, width)
    segments = torch.tensor([[-1, 0, 1, 1, -1], [0, 1, 1, 1, 1]])
    one, other = states[0, 1:2].mean(0), states[0, 2:4].mean(0)
    first = torch.cat([states[0, 0], one, other, one - other])
    one, other = states[1, :1].mean(0), states[1, 1:].mean(0)
    second = torch.cat([states[1, 0], one, other, one - other])
    expected = torch.stack([first, second]) @ head.dense.weight.T + head.dense.bias
    expected = torch.tanh(expected) @ head.answer.weight.T + head.answer.bias
    assert torch.allclose(head(states, segments), expected, atol=1e-5)
    # What is the same in all examples is taken out, and what never changes at all stays finite.
    examples = torch.randn(50, 4 * width) * torch.arange(4 * width) + 7
    head.begin(examples)
    seen = (examples - head.centre) / head.spread
    assert torch.allclose(seen.mean(0), torch.zeros(4 * width), atol=1e-3)
    assert torch.allclose(seen[:, 1:].std(0, correction=0), torch.ones(4 * width - 1), atol=1e-3)
    assert torch.allclose(
        head(states, segments)[0],
        head.answer(torch.tanh(head.dense((first - examples.mean(0)) / head.spread))),
        atol=1e-4,
    )
    # A segment that is not there has no states: nothing, rather than NaN.
    assert head(states, torch.zeros_like(segments)).isfinite().all()


def test_pair_part_by_hand_and_counts(model: Model) -> None:
    rows = [TextRow(f"it was film {i}", document=i // 4) for i in range(16)]
    pairs = SegmentPairs(model, rows, 64, "sop")
    masker = Masker(model.tokenizer, model.config.vocab_size)
    objective = Words(model, pairs, masker, WordWeights(pair=3.0))
    head = PairHead(model.config)
    with torch.no_grad():
        head.answer.weight.zero_()
        head.answer.bias.copy_(torch.tensor([0.0, math.log(3.0)]))
    got = objective.loss(WordModule(model.module, head).eval(), range(4), CPU)
    _, answers = draw_batch(pairs, range(4), masker, model.config, 0)
    expected = sum(-math.log(0.75 if answer else 0.25) for answer in answers)
    assert got[2].item() == pytest.approx(3 * expected, rel=1e-5)
    tokens, inputs = objective.count(range(4))[1:]
    assert inputs == 4 and tokens == sum(pairs.lengths[i] for i in range(4))


def test_a_prefix_is_never_asked_for(model: Model) -> None:
    model.prefix = "great movie "
    texts, masker = Texts(model, ROWS, 64), Masker(model.tokenizer, model.config.vocab_size)
    assert texts.protected == 2
    first = model.tokenizer.encode("great movie").ids[1:3]
    for seed in range(30):
        batch, _ = draw_batch(texts, range(16), masker, model.config, seed)
        assert (batch["target"][:, :3] == IGNORED).all()
        assert (batch["input_ids"][:, 1:3] == torch.from_numpy(first.astype(np.int64))).all()


def test_an_input_is_drawn_alike_in_any_piece_of_a_batch(model: Model) -> None:
    texts, masker = Texts(model, ROWS, 64), Masker(model.tokenizer, model.config.vocab_size)
    objective, module = Words(model, texts, masker), WordModule(model.module).eval()
    whole = objective.loss(module, range(8), CPU)
    pieces = objective.loss(module, [5, 6, 7], CPU) + objective.loss(module, [0, 1, 2, 3, 4], CPU)
    assert torch.allclose(whole, pieces, rtol=1e-5)
    objective.redraw(1)
    assert not torch.allclose(whole, objective.loss(module, range(8), CPU), rtol=1e-3)


@pytest.mark.parametrize("types", [0, 1])
def test_a_teacher_without_token_types_is_not_given_any(model: Model, types: int) -> None:
    """Its student's second segments have type 1, for which the teacher has no row."""
    rows = [TextRow(f"it was film {i}", document=i // 4) for i in range(16)]
    pairs, masker = SegmentPairs(model, rows, 64, "sop"), Masker(model.tokenizer, model.config.vocab_size)
    teacher = lessons.teacher(lessons.WORDS, token_types=types)
    module = WordModule(model.module).eval()
    got = Words(model, pairs, masker, WordWeights(0, 1, 1), Guide(teacher, 3.0)).loss(module, range(4), CPU)
    batch, _ = draw_batch(pairs, range(4), masker, model.config, 0)
    assert batch["token_type_ids"].max() == 1
    soft, apart = 0.0, 0.0
    for row in range(4):
        size = int(batch["attention_mask"][row].sum())
        ids, kinds = (batch[name][row, :size].tolist() for name in ("input_ids", "token_type_ids"))
        ours, theirs = lessons.look_at(model, ids, kinds), lessons.look_at(teacher, ids, [0] * size)
        for place in torch.nonzero(batch["target"][row] != IGNORED).flatten().tolist():
            soft += float(lessons.soft_targets(ours.logits[place], [theirs.logits[place]], 3.0))
        for own, other in zip(ours.hidden[-1], theirs.hidden[-1], strict=True):
            apart += 1 - float(own @ other / own.norm() / other.norm())
    assert got[0].item() == pytest.approx(soft, rel=1e-4) and got[1].item() == pytest.approx(apart, rel=1e-4)


@pytest.mark.parametrize("prefix", ["", "great movie "])
def test_targets_are_counted_by_words_that_may_be_asked_for(model: Model, prefix: str) -> None:
    """A share of 15 in 100 and at least one; neither special tokens nor the prefix are words."""
    model.prefix = prefix
    sizes = (1, 9, 16, 22, 36)
    rows = [TextRow(" ".join(["good"] * words)) for words in sizes]
    texts, masker = Texts(model, rows, 64), Masker(model.tokenizer, model.config.vocab_size)
    objective = Words(model, texts, masker)
    own = len(prefix.split())
    assert objective.lengths == [words + 2 + own for words in sizes]
    # 0.15, 1.35, 2.4, 3.3 and 5.4 words: with two more each, all but the first would be another number.
    assert [objective.count([i])[0] for i in range(5)] == [1, 1, 2, 3, 5]
    assert objective.count([0, 3, 4]) == [9, 59 + 3 * (2 + own), 3]
    batch, _ = draw_batch(texts, range(5), masker, model.config, 0)
    assert (batch["target"] != IGNORED).sum(1).tolist() == [1, 1, 2, 3, 5]


def test_pairs_are_counted_by_words_that_may_be_asked_for(model: Model) -> None:
    rows = [TextRow(" ".join(["good"] * 10), document=i // 2) for i in range(4)]
    pairs, masker = SegmentPairs(model, rows, 64, "sop"), Masker(model.tokenizer, model.config.vocab_size)
    # Two sentences, [CLS] and two [SEP].
    assert Words(model, pairs, masker).count([0, 1]) == [6, 2 * 23, 2]


def test_an_input_as_passages_are(model: Model) -> None:
    passage = Passage(np.array([1, 2], np.int32), np.array([0, 0], np.int32))
    assert passage.features.count == 1 and passage.pair is None


def test_segments_are_known_also_where_types_do_not_tell_them(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [TextRow(f"it was film {i}", document=i // 4) for i in range(16)]
    encode = model.tokenizer.encode

    def without_types(*given: object) -> EncodedText:
        encoded = encode(*given)  # type: ignore[arg-type]
        return replace(encoded, type_ids=np.zeros_like(encoded.type_ids))

    monkeypatch.setattr(model.tokenizer, "encode", without_types)
    pairs, masker = SegmentPairs(model, rows, 64, "sop"), Masker(model.tokenizer, model.config.vocab_size)
    batch, _ = draw_batch(pairs, range(4), masker, model.config, 0)
    assert not batch["token_type_ids"].any()
    for i in range(4):
        passage = pairs.draw(i, np.random.default_rng([0, i]))
        assert passage.segments is not None
        said = passage.segments.tolist()
        middle = said.index(1)
        assert said == [-1, *[0] * (middle - 2), -1, *[1] * (len(said) - middle - 1), -1]
        assert batch["segments"][i].tolist() == said + [-1] * (batch["segments"].shape[1] - len(said))
