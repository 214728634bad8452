"""What students take over from a teacher beside its layers: embeddings, head, prefix, licence, and its text's words."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from lessons import CLASSIFIER, ROWS, WORDS, model
from torch import Tensor, nn

from mobilekit.models.encoder import Embeddings
from mobilekit.models.model import Model, Source
from mobilekit.text.data.rows import TextRow
from mobilekit.training.students.find import find_student
from mobilekit.training.students.registry import StudentOptions, students

DEPTHS = {"albert": 4, "distil6": 2, "tiny4": 2}


def made(name: str, of: Model, layers: str = "", texts: list[TextRow] | None = None, **options: object) -> Model:
    chosen = StudentOptions(depth=DEPTHS[name], **options)  # type: ignore[arg-type]
    return find_student(name, of, chosen, layers, 3, texts or [])


def test_these_are_all_students() -> None:
    assert set(students()) == set(DEPTHS)


@pytest.mark.parametrize("name", DEPTHS)
def test_tokenizer_prefix_and_licence_are_the_teachers(name: str) -> None:
    big = model()
    big.name, big.prefix, big.source = "big", "query: ", Source("some/big", "abc", "MIT")
    student = made(name, big, embedding_size=16) if name == "albert" else made(name, big)
    assert student.prefix == "query: " and student.tokenizer is big.tokenizer
    # Whose weights they are is another matter: not a revision of anything.
    assert (student.source.license, student.source.revision) == ("MIT", "")
    assert student.source.id.startswith("some/big-") and student.name.startswith("big-")
    assert student.head.labels == CLASSIFIER.labels and not student.module.training


def test_an_albert_is_trained_without_dropout_and_others_as_their_teacher() -> None:
    """Lan et al. 2020, section 4.8."""
    for name, share in (("albert", 0.0), ("distil6", 0.5), ("tiny4", 0.5)):
        student = made(name, model(), embedding_size=16) if name == "albert" else made(name, model())
        shares = {module.p for module in student.module.modules() if isinstance(module, nn.Dropout)}
        assert shares == {share} and student.config.dropout == share


def centred(table: nn.Embedding) -> Tensor:
    return table.weight.detach() - table.weight.detach().mean(1, keepdim=True)


def test_embeddings_of_tiny4_have_the_angles_of_the_teachers() -> None:
    """Half as wide, they cannot tell more than 31 directions apart: where the teacher has no more, they are the same
    but for a turn, which leaves all inner products as they are."""
    big = model(WORDS)
    tables = ("token", "position", "token_type")
    generator = torch.Generator().manual_seed(4)
    basis = torch.randn(20, 64, generator=generator)
    with torch.no_grad():
        for name in tables:
            weight = getattr(big.module.encoder.embeddings, name).weight
            weight.copy_(torch.randn(len(weight), 20, generator=generator) @ basis)
    student = made("tiny4", big)
    ours, theirs = student.module.encoder.embeddings, big.module.encoder.embeddings
    for name in tables:
        own, other = getattr(ours, name).weight.detach(), centred(getattr(theirs, name))
        assert own.shape[1] == 32 and torch.allclose(own @ own.T, other @ other.T, rtol=1e-3, atol=1e-2)
    fresh = find_student("tiny4", big, StudentOptions(depth=2, layers="none"), "", 3)
    assert float(fresh.module.encoder.embeddings.token.weight.std()) == pytest.approx(0.15, rel=0.05)


def test_layers_of_tiny4_are_fresh_and_drawn_by_the_seed() -> None:
    first, second = (find_student("tiny4", model(), StudentOptions(depth=2), "", seed) for seed in (1, 2))
    a, b = first.module.encoder, second.module.encoder
    assert torch.equal(a.embeddings.token.weight, b.embeddings.token.weight)
    assert not torch.equal(a.layers[0].ffn.up.weight, b.layers[0].ffn.up.weight)


def error(student: Model, big: Model, text: str) -> float:
    """How far narrow embeddings are from the teacher's where a text is read."""

    def seen(embeddings: Embeddings) -> Tensor:
        ids = torch.from_numpy(big.tokenizer.encode(text).ids.astype("int64"))[None]
        states = embeddings(ids, None)
        return states if embeddings.projection is None else embeddings.projection(states)

    with torch.no_grad():
        ours, theirs = (seen(each.module.eval().encoder.embeddings) for each in (student, big))
        return float((ours - theirs).square().mean())


def test_an_alberts_embeddings_are_best_for_the_words_of_its_text() -> None:
    big = model(WORDS)
    texts = [TextRow("film good was")] * 50
    blind, seeing = made("albert", big, embedding_size=16), made("albert", big, texts=texts, embedding_size=16)
    assert error(seeing, big, "film good was") < 0.9 * error(blind, big, "film good was")


@pytest.mark.parametrize("name", ["albert", "tiny4"])
def test_words_are_counted_as_the_student_will_read_them(name: str) -> None:
    """With the prefix before each text; a word that does not occur counts a tenth, and keeps a meaning."""
    big = model(WORDS)
    big.prefix = "very "
    counts = torch.full((big.config.vocab_size,), 0.1)
    for row in ROWS:
        for token in big.tokenizer.encode("very " + row.text).ids.tolist():
            counts[token] += 1
    options = StudentOptions(depth=4, embedding_size=16)
    if name == "tiny4":
        options = replace(options, embedding_size=StudentOptions().embedding_size)
    expected = students()[name].make(big, options, 3, counts).module.encoder.embeddings.token.weight
    got = find_student(name, big, options, "", 3, ROWS).module.encoder.embeddings.token.weight
    assert torch.allclose(got, expected, atol=1e-5)
    alike = find_student(name, big, options, "", 3).module.encoder.embeddings.token.weight
    assert not torch.allclose(alike, expected, atol=1e-2)


def test_a_recipes_layers_are_taken_where_options_do_not_say() -> None:
    big = model(WORDS)
    layers = [layer.ffn.up.weight for layer in big.module.encoder.layers]
    first = made("distil6", big, "first").module.encoder.layers[1].ffn.up.weight
    last = find_student("distil6", big, StudentOptions(depth=2, layers="last"), "first", 0).module.encoder.layers[1]
    assert torch.equal(first, layers[1]) and torch.equal(last.ffn.up.weight, layers[3])
    # Others do not begin with layers of the recipe's choice: an albert's stand for all of them.
    shared = made("albert", big, "first", embedding_size=16).module.encoder.layers[0].ffn.up.weight
    assert torch.allclose(shared, torch.stack(layers).mean(0), atol=1e-6)


def test_a_head_of_the_same_shape_is_the_teachers() -> None:
    big = model(replace(CLASSIFIER, mean=True))
    theirs = big.module.head.classifier.weight
    for name in ("albert", "distil6"):
        student = made(name, big, embedding_size=16) if name == "albert" else made(name, big)
        assert torch.equal(student.module.head.classifier.weight, theirs)
        assert student.module.head.classifier.weight is not theirs
    assert made("tiny4", big).module.head.classifier.weight.shape == (3, 32)


def test_of_layers_that_share_weights_the_first_one_counts() -> None:
    big = model(WORDS, layers=12, sharing="all", groups=2, embedding_size=32)
    big.family = "albert"
    student = find_student("distil6", big, StudentOptions(layers="0,7,8,9,10,11"), "", 0)
    ours, theirs = student.module.encoder.layers, big.module.encoder.layers
    assert student.config.groups == 2
    assert torch.equal(ours[0].ffn.up.weight, theirs[0].ffn.up.weight)
    assert torch.equal(ours[3].attention.query.weight, theirs[9].attention.query.weight)
