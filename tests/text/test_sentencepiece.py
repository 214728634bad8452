from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_support import ALBERT, train_sentencepiece
from tokenizers import normalizers

from mobilekit.errors import InputError
from mobilekit.text.charsmap import check_charsmap, make_charsmap
from mobilekit.text.parity import parity_texts
from mobilekit.text.sentencepiece import CONTROL, parse_sentencepiece, read_sentencepiece
from mobilekit.text.tokenizer import load_tokenizer


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: bytes | int | float) -> bytes:
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def piece(text: str, score: float = 0.0, kind: int | None = None) -> bytes:
    return field(1, field(1, text.encode()) + field(2, score) + (b"" if kind is None else field(3, kind)))


TABLE = {0x1: "", 0x9: " ", 0xA0: " ", 0xBD: "1⁄2", 0xFB01: "fi", 0x1D54F: "X"}
SMALL = (
    b"".join([piece("<unk>", kind=2), piece("<s>", kind=3), piece("</s>", kind=3), piece("▁", -2.0), piece("a", -3.0)])
    + field(2, field(3, 1))
    + field(3, field(1, b"mine") + field(2, make_charsmap(TABLE)))
)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("sentencepiece") / "spiece.model"
    train_sentencepiece(file, **ALBERT)
    return file.read_bytes()


def test_reads_what_the_library_wrote(real: bytes) -> None:
    import sentencepiece

    theirs = sentencepiece.SentencePieceProcessor(model_proto=real)
    ours = parse_sentencepiece(real)
    assert [p.text for p in ours.pieces] == [theirs.id_to_piece(i) for i in range(theirs.get_piece_size())]
    assert [p.score for p in ours.pieces] == [theirs.get_score(i) for i in range(theirs.get_piece_size())]
    assert [p.kind == CONTROL for p in ours.pieces] == [theirs.is_control(i) for i in range(theirs.get_piece_size())]
    assert len(ours.charsmap) > 100_000


def test_unknown_fields_and_parts_in_pieces_do_not_matter() -> None:
    plain = parse_sentencepiece(SMALL)
    more = field(9, b"x") + field(10, 2**64 - 1) + field(11, 1.0) + varint(12 << 3 | 1) + bytes(8)
    assert parse_sentencepiece(more + SMALL + more) == plain
    assert [p.text for p in plain.pieces] == ["<unk>", "<s>", "</s>", "▁", "a"] and plain.pieces[4].score == -3.0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it has no pieces"),
        (piece("a"), "ends before the trainer's and the normalizer's part"),
        (SMALL + piece("a"), "a piece is there twice"),
        (SMALL + piece(""), "piece 5 is empty"),
        (SMALL + piece("b", float("nan")), "piece 5 is empty, or its score"),
        (SMALL + piece("b", kind=9), "piece 5 is empty, or its score or kind"),
        (SMALL + field(1, field(1, b"\xff")), "utf-8"),
        (SMALL + field(1, 5), "a piece is not made of bytes"),
        (SMALL + field(1, field(1, b"b") + field(2, 3)), "the score of piece 5 is no number"),
        (SMALL + field(1, field(1, 3)), "piece 5 is not made of bytes"),
        (SMALL + field(2, field(3, 2)), "its algorithm is bpe"),
        (SMALL + field(2, field(3, 77)), "its algorithm is number 77"),
        (SMALL + field(3, 1.0), "the normalizer's part is not made of bytes"),
        (SMALL + field(3, field(2, b"abc")), "its character map is too short"),
        (SMALL + varint(1 << 3 | 2) + varint(1000), "field 1 has 1000 bytes, 0 are left"),
        (SMALL + varint(1 << 3 | 2) + varint(2**63), "bytes, 0 are left"),
        (SMALL + varint(1 << 3 | 3), "field 1 is of unknown type 3"),
        (SMALL + b"\x00\x01", "there is no field 0"),
        (SMALL + b"\x80", "it ends within a number"),
        (SMALL + b"\xff" * 11, "a number has more than 10 bytes"),
    ],
)
def test_broken_files_say_what_is_wrong(data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "spiece.model"
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"spiece.model: not a SentencePiece model that mobilekit reads: ") as caught:
        read_sentencepiece(file)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_truncated_files_are_refused_by_name(real: bytes, tmp_path: Path) -> None:
    rng = random.Random(5)
    # Past the normalizer's part only self tests may follow, and a file without them is whole.
    whole = real.rindex(b"nmt_nfkc")
    for at in [0, 1, 2, 3, *(rng.randrange(whole) for _ in range(60))]:
        (tmp_path / "spiece.model").write_bytes(real[:at])
        with pytest.raises(InputError, match=r"spiece.model"):
            load_tokenizer(tmp_path, 512)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_sentencepiece(data)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(SMALL) - 1), st.binary(min_size=1, max_size=6), st.booleans())
def test_damaged_files_are_refused_or_work(at: int, some: bytes, insert: bool) -> None:
    try:
        model = parse_sentencepiece(SMALL[:at] + some + SMALL[at + (0 if insert else len(some)) :])
    except ValueError:
        return
    assert model.pieces
    if model.charsmap:
        normalizer = normalizers.Precompiled(model.charsmap)
        for text in parity_texts()[:20]:
            normalizer.normalize_str(text)


def test_made_map_writes_what_the_table_says() -> None:
    rng = random.Random(3)
    points = rng.sample([p for p in range(1, 0x110000) if not 0xD800 <= p < 0xE000 and p != ord("b")], 6000)
    table = {point: rng.choice(["", " ", "x", "ab", "語", "\U0001d54f" * 3, chr(point)]) for point in points}
    made = make_charsmap(table)
    check_charsmap(made)
    normalizer = normalizers.Precompiled(made)
    assert all(normalizer.normalize_str(f"b{chr(point)}") == f"b{text}" for point, text in table.items())
    others = [p for p in range(0x4E00, 0x9FFF) if p not in table]
    assert all(normalizer.normalize_str(chr(p)) == chr(p) for p in others[:2000])


@pytest.mark.parametrize("table", [{0: "x"}, {0x110000: "x"}, {0xD800: "x"}, {65: "a\0"}])
def test_maps_that_cannot_be_written_are_refused(table: dict[int, str]) -> None:
    with pytest.raises(ValueError, match="character map has an entry for"):
        make_charsmap(table)


def test_empty_map_changes_nothing() -> None:
    made = make_charsmap({})
    check_charsmap(made)
    assert normalizers.Precompiled(made).normalize_str("aé日") == "aé日"


def test_real_map_passes_and_shorter_ones_do_not(real: bytes) -> None:
    charsmap = parse_sentencepiece(real).charsmap
    check_charsmap(charsmap)
    for at in (0, 3, 4, 5, 1000, len(charsmap) // 2, len(charsmap) - 1):
        with pytest.raises(ValueError, match="its character map"):
            check_charsmap(charsmap[:at])


def test_map_of_own_rules_passes(tmp_path: Path) -> None:
    rules = tmp_path / "rules.tsv"
    rules.write_text("41\t61\n41 301\t61 301\nFB01\t66 69\n")
    train_sentencepiece(tmp_path / "own.spm", normalization_rule_tsv=str(rules))
    normalizer = normalizers.Precompiled(parse_sentencepiece((tmp_path / "own.spm").read_bytes()).charsmap)
    assert normalizer.normalize_str("A \ufb01B") == "a fiB"


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_maps_are_refused_or_walk_within(data: st.DataObject) -> None:
    made = bytearray(make_charsmap(TABLE))
    for _ in range(data.draw(st.integers(1, 4))):
        # Where something is; between it there are only zeros.
        places = [i for i, byte in enumerate(made) if byte or i > len(made) - 20]
        at = data.draw(st.sampled_from(places))
        made[at] = data.draw(st.integers(0, 255))
    try:
        check_charsmap(bytes(made))
    except ValueError:
        return
    normalizer = normalizers.Precompiled(bytes(made))
    for text in (*map(chr, TABLE), "a\xa0½ﬁ𝕏\x01\t", *parity_texts()[:20]):
        normalizer.normalize_str(text)
