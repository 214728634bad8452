"""Students made from a teacher: which layers, folded token types, factorised embeddings, sharing, heads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from mobilekit.errors import InputError
from mobilekit.models.config import EncoderConfig, HeadConfig
from mobilekit.models.encoder import Embeddings
from mobilekit.models.load import load, load_backbone
from mobilekit.models.model import Model, Source, fresh_module
from mobilekit.text.data.rows import TextRow
from mobilekit.training.students.copying import choose_layers, spaced
from mobilekit.training.students.factorise import factorise
from mobilekit.training.students.find import find_student
from mobilekit.training.students.registry import StudentOptions, students

LABELS = ("negative", "positive")


def teacher(layers: int = 12, head: HeadConfig | None = None, **changes: object) -> Model:
    tiny = load("tiny-classifier")
    config = replace(tiny.config, layers=layers, initializer_range=0.1, **changes)  # type: ignore[arg-type]
    module = fresh_module(config, head or HeadConfig("sentence-embedding"), 1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for child in module.modules():
            if isinstance(child, nn.LayerNorm):
                child.weight.add_(torch.randn(child.weight.shape, generator=generator) * 0.2)
                child.bias.add_(torch.randn(child.bias.shape, generator=generator) * 0.2)
    family = "albert" if config.projected or config.sharing == "all" else "bert"
    return Model("big", module, head or HeadConfig("sentence-embedding"), tiny.tokenizer, Source("big"), family=family)


def make(name: str, of: Model, **options: object) -> Model:
    return students()[name].make(of, StudentOptions(**options), 0, None)  # type: ignore[arg-type]


def test_layers_are_those_of_distilbert() -> None:
    assert spaced(12, 6) == (0, 2, 4, 7, 9, 11)
    assert spaced(24, 6) == (0, 5, 9, 14, 18, 23) and spaced(6, 3) == (0, 3, 5)
    assert spaced(4, 4) == (0, 1, 2, 3) and spaced(12, 1) == (0,)
    assert choose_layers("first", 12, 3) == (0, 1, 2) and choose_layers("last", 12, 3) == (9, 10, 11)
    assert choose_layers("mapped", 12, 6) == (1, 3, 5, 7, 9, 11) and choose_layers("mapped", 12, 4) == (2, 5, 8, 11)
    assert choose_layers("5,0,2", 12, 3) == (5, 0, 2) and choose_layers("none", 2, 3) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("spaced", "6 layers, its teacher 4: it may not be deeper"),
        ("0,1", "names 2 of the teacher's layers, the student has 6"),
        ("0,1,2,3,4,4", "layer 4 is out of range; the teacher's are 0 to 3"),
        ("evenly", "give spaced, first, last, mapped, none"),
    ],
)
def test_impossible_layers_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose_layers(text, 4, 6)


def test_distil6_is_a_distilbert_with_the_teachers_layers() -> None:
    big = teacher()
    student = make("distil6", big)
    assert student.family == "distilbert" and student.config.layers == 6 and student.config.token_types == 0
    ours, theirs = student.module.encoder, big.module.encoder
    for own, layer in enumerate((0, 2, 4, 7, 9, 11)):
        for (name, a), (_, b) in zip(
            ours.layers[own].named_parameters(), theirs.layers[layer].named_parameters(), strict=True
        ):
            assert torch.equal(a, b), (own, name)
    first = make("distil6", big, layers="first").module.encoder
    assert torch.equal(first.layers[5].ffn.up.weight, theirs.layers[5].ffn.up.weight)


def test_token_types_are_folded_without_changing_a_single_text() -> None:
    """As deep as its teacher, the student is the teacher."""
    big = teacher(6)
    student = make("distil6", big)
    ids = torch.tensor([[2, 50, 60, 70, 3]])
    with torch.no_grad():
        a, b = student.module.encoder(ids).last, big.module.encoder(ids, token_type_ids=torch.zeros_like(ids)).last
    assert (a - b).abs().max() < 1e-5
    # And the teacher keeps its own positions.
    assert not torch.equal(
        student.module.encoder.embeddings.position.weight, big.module.encoder.embeddings.position.weight
    )


def test_distil6_without_the_teachers_layers_is_fresh() -> None:
    big = teacher()
    fresh = make("distil6", big, layers="none").module.encoder
    assert fresh.embeddings.token.weight.std() < 0.12
    assert not torch.equal(fresh.embeddings.token.weight, big.module.encoder.embeddings.token.weight)


def test_students_are_saved_for_transformers(tmp_path: Path) -> None:
    from mobilekit.models.save import save_model

    big = teacher(12, HeadConfig("fill-mask", activation="gelu"))
    for name, kind in (("distil6", "distilbert"), ("albert", "albert"), ("tiny4", "bert")):
        student = make(name, big, embedding_size=32)
        (tmp_path / name).mkdir()
        assert save_model(student, tmp_path / name) == []
        again = load(tmp_path / name)
        assert again.family == kind and again.head.task == "fill-mask" and again.config == student.config


def test_heads_are_taken_over_where_the_layout_has_the_same() -> None:
    words = teacher(12, HeadConfig("fill-mask", activation="gelu"))
    student = make("distil6", words)
    assert torch.equal(student.module.head.transform.weight, words.module.head.transform.weight)
    assert torch.equal(student.module.head.decoder.bias, words.module.head.decoder.bias)
    assert student.module.head.decoder.weight is student.module.encoder.embeddings.token.weight
    # BERT's pooler has a tanh, DistilBERT's a relu: not the same head.
    pooled = make("distil6", teacher(12, HeadConfig("sequence-classification", LABELS)))
    assert pooled.head.activation == "relu"
    mean = teacher(12, HeadConfig("sequence-classification", LABELS, mean=True))
    assert torch.equal(make("distil6", mean).module.head.classifier.weight, mean.module.head.classifier.weight)


def wide(rank: int, width: int = 48) -> Embeddings:
    """Embeddings whose rows (less their means) lie in `rank` directions."""
    config = EncoderConfig(200, width, 1, 4, 64, width, max_positions=40, norm_eps=1e-12)
    made = Embeddings(config).eval()
    generator = torch.Generator().manual_seed(0)
    basis = torch.randn(rank, width, generator=generator)
    with torch.no_grad():
        for table in (made.token, made.position, made.token_type):
            assert table is not None
            rows = torch.randn(len(table.weight), rank, generator=generator) @ basis
            table.weight.copy_(rows + torch.randn(len(rows), 1, generator=generator))
        made.norm.weight.copy_(torch.rand(width, generator=generator) + 0.5)
        made.norm.bias.copy_(torch.randn(width, generator=generator))
    return made


def narrow_output(source: Embeddings, size: int, counts: torch.Tensor | None = None) -> torch.Tensor:
    factors = factorise(source, size, counts)
    config = EncoderConfig(200, len(factors.bias), 1, 4, 64, size, max_positions=40, norm_eps=1e-12)
    made = Embeddings(config).eval()
    with torch.no_grad():
        for name, table in factors.tables.items():
            getattr(made, name).weight.copy_(table)
        assert made.projection is not None
        made.projection.weight.copy_(factors.projection)
        made.projection.bias.copy_(factors.bias)
        return made.projection(made(IDS, TYPES))


IDS = torch.randint(0, 200, (6, 20), generator=torch.Generator().manual_seed(1))
TYPES = torch.randint(0, 2, (6, 20), generator=torch.Generator().manual_seed(2))


def test_factors_are_exact_where_the_rank_allows_it() -> None:
    source = wide(rank=15)
    with torch.no_grad():
        expected = source(IDS, TYPES)
    assert (narrow_output(source, 16) - expected).abs().max() < 1e-3
    # One direction fewer, and it is not.
    assert (narrow_output(source, 15) - expected).abs().max() > 0.05


def test_factors_are_better_where_the_text_is() -> None:
    """Directions are spent on the tokens that occur."""
    source = wide(rank=40)
    counts = torch.zeros(200)
    counts[:20] = 1
    ids = IDS % 20
    with torch.no_grad():
        expected = source(ids, torch.zeros_like(ids))

    def error(given: torch.Tensor | None) -> float:
        factors = factorise(source, 24, given)
        config = EncoderConfig(200, 48, 1, 4, 64, 24, max_positions=40)
        made = Embeddings(config).eval()
        with torch.no_grad():
            for name, table in factors.tables.items():
                getattr(made, name).weight.copy_(table)
            narrow = made(ids, torch.zeros_like(ids)) @ factors.projection.T + factors.bias
        return float((narrow - expected).square().mean())

    assert error(counts) < 0.8 * error(None)


def test_factors_take_the_positions_that_are_used() -> None:
    """RoBERTa's first rows stand for nothing."""
    config = EncoderConfig(200, 48, 1, 4, 64, 48, max_positions=42, position_offset=2)
    made = Embeddings(config).eval()
    plain = factorise(made, 16).projection
    with torch.no_grad():
        made.position.weight[:2] += 100 * torch.randn(2, 48, generator=torch.Generator().manual_seed(3))
    assert torch.allclose(factorise(made, 16).projection, plain)


def test_albert_shares_the_mean_of_the_layers_it_stands_for() -> None:
    big = teacher()
    student = make("albert", big, embedding_size=32)
    layers = big.module.encoder.layers
    mean = torch.stack([layer.ffn.up.weight for layer in layers]).mean(0)
    assert student.family == "albert" and student.config.embedding_size == 32 and student.config.layers == 12
    assert torch.allclose(student.module.encoder.layers[0].ffn.up.weight, mean, atol=1e-6)
    assert sum(n.startswith("encoder.layers.") for n, _ in student.module.named_parameters()) == 16
    groups = make("albert", big, groups=3, embedding_size=32)
    third = torch.stack([layer.attention.query.weight for layer in layers[8:]]).mean(0)
    assert torch.allclose(groups.module.encoder.layers[8].attention.query.weight, third, atol=1e-6)
    said = make("albert", big, layers="mean", embedding_size=32)
    assert torch.equal(said.module.encoder.layers[0].ffn.up.weight, student.module.encoder.layers[0].ffn.up.weight)
    chosen = make("albert", big, layers="last", embedding_size=32, groups=2)
    assert torch.equal(chosen.module.encoder.layers[6].ffn.up.weight, layers[6].ffn.up.weight)


@pytest.mark.parametrize("sharing", ["none", "attention", "ffn"])
def test_albert_shares_what_is_asked_for_and_the_rest_is_the_teachers_own(sharing: str) -> None:
    big = teacher(4)
    layers = big.module.encoder.layers
    student = make("albert", big, sharing=sharing, embedding_size=0)
    assert student.config.sharing == sharing and not student.config.projected
    own = {"attention": sharing != "attention", "ffn": sharing != "ffn"}
    attention = student.module.encoder.layers[2].attention.query.weight
    ffn = student.module.encoder.layers[2].ffn.up.weight
    assert torch.equal(attention, layers[2].attention.query.weight) == own["attention"]
    assert torch.equal(ffn, layers[2].ffn.up.weight) == own["ffn"]


def test_albert_that_shares_nothing_as_wide_as_its_teacher_is_the_teacher() -> None:
    big = teacher(4)
    student = make("albert", big, sharing="none", embedding_size=0)
    with torch.no_grad():
        difference = student.module.encoder(IDS, None, TYPES).last - big.module.encoder(IDS, None, TYPES).last
    assert difference.abs().max() < 1e-5


def test_distil6_of_an_albert_is_a_shallower_albert() -> None:
    big = teacher(12, sharing="all", embedding_size=32)
    student = make("distil6", big)
    assert student.family == "albert" and student.config.layers == 6 and student.config.sharing == "all"
    assert torch.equal(student.module.encoder.layers[0].ffn.up.weight, big.module.encoder.layers[0].ffn.up.weight)


@pytest.mark.parametrize(("groups", "kept"), [(12, "none"), (4, "none"), (3, "all"), (2, "all"), (1, "all")])
def test_distil6_of_an_albert_with_groups_has_the_teachers_layers(groups: int, kept: str) -> None:
    big = teacher(12, sharing="all", embedding_size=32, groups=groups)
    student = make("distil6", big)
    assert student.config.sharing == kept and student.family == "albert"
    for own, layer in enumerate((0, 2, 4, 7, 9, 11)):
        ours = student.module.encoder.layers[own].ffn.up.weight
        assert torch.equal(ours, big.module.encoder.layers[layer].ffn.up.weight)


def test_tiny4_is_half_as_wide() -> None:
    student = make("tiny4", teacher())
    config = student.config
    assert (config.layers, config.hidden_size, config.intermediate_size, config.heads) == (4, 32, 64, 4)


def test_what_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is an ALBERT already"):
        make("albert", teacher(4, sharing="all", embedding_size=32))
    electra = replace(teacher(4, embedding_size=32), family="electra")
    with pytest.raises(
        InputError, match="its embeddings, 32 wide, are not those of its layers, 64 wide.*distil6 keeps"
    ):
        make("albert", electra)
    for other in (electra, teacher(4, sharing="all")):
        with pytest.raises(InputError, match="a tiny4 is made of embeddings as wide as the layers.*take distil6"):
            make("tiny4", other)
    with pytest.raises(InputError, match="with --sharing none leave out --groups"):
        make("albert", teacher(4), sharing="none", groups=1, embedding_size=0)
    with pytest.raises(InputError, match="at most the teacher's, 64"):
        make("albert", teacher(4), embedding_size=65)
    with pytest.raises(InputError, match="5 equal groups"):
        make("albert", teacher(4), groups=5, embedding_size=0)
    with pytest.raises(InputError, match="cannot begin with its layers"):
        make("tiny4", teacher(), layers="first")
    with pytest.raises(InputError, match="cannot be halved"):
        make("tiny4", teacher(4, heads=64))
    with pytest.raises(InputError, match="may not be deeper"):
        make("distil6", teacher(4))
    with pytest.raises(InputError, match="did you mean 'attention'"):
        StudentOptions(sharing="atention")


def test_a_student_is_found_by_name() -> None:
    texts = [TextRow("a good film")]
    made = find_student("distil6", teacher(), StudentOptions(), "first", 0, texts)
    assert torch.equal(made.module.encoder.layers[5].ffn.up.weight, teacher().module.encoder.layers[5].ffn.up.weight)
    assert find_student("tiny-words", None, StudentOptions(), "", 0).head.task == "fill-mask"
    with pytest.raises(InputError, match="made from a teacher; name it with --teacher"):
        find_student("albert", None, StudentOptions(), "", 0)
    with pytest.raises(InputError, match=r"--groups is for students that are made from a teacher \(albert, distil6"):
        find_student("tiny-words", None, StudentOptions(groups=2), "", 0)
    # A default that is said is said.
    with pytest.raises(InputError, match="--depth is for students that are made"):
        find_student("tiny-words", None, StudentOptions(depth=2), "", 0)
    with pytest.raises(InputError, match="student tiny4 has no option --sharing, which is for albert; leave it out"):
        find_student("tiny4", teacher(), StudentOptions(sharing="all"), "", 0)
    assert load_backbone("tiny-words").head.task == "fill-mask"
