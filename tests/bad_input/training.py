"""What can be wrong with data, settings and folders of `train`."""

from __future__ import annotations

from bad_input.case import GOOD, Case, Place, Spoil


def _trained(data: str | bytes, *more: str, name: str = "data.csv") -> Spoil:
    """`train` on a file with this content."""

    def spoil(place: Place) -> list[str]:
        content = data if isinstance(data, bytes) else data.encode()
        (place.root / name).write_bytes(content)
        return ["train", "--model", "tiny-classifier", "--data", name, "--out", "trained", *more]

    return spoil


def _dev_label(place: Place) -> list[str]:
    (place.root / "dev.csv").write_text("text,label\na film,yes\nanother,maybe\n")
    return [*_trained(GOOD)(place), "--dev", "dev.csv"]


def _ended(place: Place) -> list[str]:
    (place.root / "trained.training" / "checkpoint").mkdir(parents=True)
    (place.root / "trained.training" / ".mobilekit-run").touch()
    return _trained(GOOD)(place)


def _precious(place: Place) -> list[str]:
    (place.root / "trained.training").mkdir()
    (place.root / "trained.training" / "thesis").write_text("x")
    return _trained(GOOD)(place)


def _linked(place: Place) -> list[str]:
    (place.root / "real").mkdir()
    (place.root / "real" / "thesis").write_text("x")
    (place.root / "trained.training").symlink_to(place.root / "real")
    return _trained(GOOD)(place)


def _file_for_work(place: Place) -> list[str]:
    (place.root / "trained.training").write_text("x")
    return _trained(GOOD)(place)


def _precious_out(place: Place) -> list[str]:
    (place.root / "trained").mkdir()
    (place.root / "trained" / "thesis").write_text("x")
    return [*_trained(GOOD)(place), "--force"]


def _resumed_nothing(place: Place) -> list[str]:
    return [*_trained(GOOD)(place), "--resume"]


def _existing(place: Place) -> list[str]:
    (place.root / "trained").mkdir()
    return _trained(GOOD)(place)


def _tags(*more: str) -> Spoil:
    """`train` on tagged words."""
    return _trained("film B-LOC\nthe O\n\nbad O\n", "--task", "token-classification", *more, name="data.conll")


def _long_question(place: Place) -> list[str]:
    row = '{"question": "%s", "context": "it was good", "answers": {"text": ["good"], "answer_start": [7]}}\n'
    (place.root / "test.jsonl").write_text(row % "was it a very good film")
    given = _trained(row % "what" + row % "how", "--test", "test.jsonl", "--length", "9", name="data.jsonl")(place)
    return ["train", "--model", "tiny-reader", *given[3:]]


CASES = (
    Case("clustered as no scheme", _trained(GOOD, "--clustered", "pall2"), "scheme 'pall2' is unknown"),
    Case(
        "clustered by a scheme without clusters",
        _trained(GOOD.replace("yes", "positive").replace("no\n", "negative\n"), "--clustered", "int8"),
        "scheme int8 clusters no weights",
    ),
    Case(
        "clustered with the head of other data",
        _trained(GOOD, "--clustered", "int8"),
        "has no head for these data.*fine-tune it first",
    ),
    Case(
        "clustered with a frozen encoder",
        _trained(
            GOOD.replace("yes", "positive").replace("no\n", "negative\n"), "--clustered", "int8", "--freeze", "encoder"
        ),
        "freeze encoder: leaves no clustered weights",
    ),
    Case(
        "train: no labels",
        _trained("text\na film\nanother\n"),
        r"data\.csv: is plain text and has no labels; training needs them",
    ),
    Case(
        "train: one class",
        _trained("text,label\na,yes\nb,yes\n"),
        r"all rows have the label 'yes'; training needs at least two",
    ),
    Case("train: empty file", _trained(""), r"data\.csv.*empty"),
    Case("train: only a header", _trained("text,label\n"), r"data\.csv.*no rows|data\.csv.*empty"),
    Case("train: wrong encoding", _trained(b"text,label\ncaf\xe9,yes\n"), r"data\.csv.*UTF-8"),
    Case(
        "train: missing column",
        _trained(GOOD, "--label-column", "labl"),
        r"data\.csv.*no column 'labl'; .*label",
    ),
    Case("train: unknown data", _trained(GOOD, "--data", "movie-sentimant"), r"did you mean 'movie-sentiment'"),
    Case("train: label of dev outside the set", _dev_label, r"dev\.csv:3: .*'maybe'.*no, yes"),
    Case("train: dev data that are not there", _trained(GOOD, "--dev", "dev.csv"), r"dev\.csv"),
    Case("train: no epochs", _trained(GOOD, "--epochs", "0"), r"epochs is 0; it has to be at least 1"),
    Case("train: warm-up alone", _trained(GOOD, "--warm-up", "1"), r"warm_up is 1.0; it is a share of all steps"),
    Case("train: all is clipped", _trained(GOOD, "--clip", "0"), r"clip is 0.0; it has to be above 0"),
    Case("train: weights that grow", _trained(GOOD, "--decay", "-1"), r"decay and save_every have to be at least 0"),
    Case("train: unknown optimizer", _trained(GOOD, "--optimizer", "lam"), r"did you mean 'lamb'"),
    Case("train: unknown pooling", _trained(GOOD, "--pooling", "meen"), r"did you mean 'mean'"),
    Case("train: a folder that is there", _existing, r"trained: exists already; --force replaces it"),
    Case("train: an ended run", _ended, r"trained\.training: a run was ended there; --resume goes on with it"),
    Case("train: somebody's folder", _precious, r"trained\.training: is not of a run"),
    Case("train: a link for a folder", _linked, r"trained\.training: is a link or a file"),
    Case("train: a file for a folder", _file_for_work, r"trained\.training: is a link or a file"),
    Case("train: force over what is not a model", _precious_out, r"trained: has no config\.json.*does not replace it"),
    Case("train: seed beyond numbers", _trained(GOOD, "--seed", "1" + "0" * 20), r"seed is 1"),
    Case("train: nothing to resume", _resumed_nothing, r"no checkpoint to go on from; start without --resume"),
    Case("train: resume and force", _trained(GOOD, "--resume", "--force"), r"give one of them"),
    Case("train: pooling of tags", _tags("--pooling", "mean"), r"pooling: is of .* leave it out for token-classif"),
    Case(
        "train: pooling of tags, as it is", _tags("--pooling", "family"), r"pooling: is of classifiers of whole texts"
    ),
    Case("train: columns of what has none", _tags("--text-column", "text"), r"--text-column 'text': none of the data"),
    Case(
        "train: missing column of text",
        _trained("sentence,label\na,yes\nb,no\n"),
        r"data\.csv: has no column 'text'; its columns are sentence, label. .*--text-column",
    ),
    Case(
        "train: second texts that are not there",
        _trained(GOOD, "--pair-column", "text_pair"),
        r"data\.csv: has no column 'text_pair'; leave out --pair-column",
    ),
    Case("train: no room for text", _trained(GOOD, "--length", "2"), r"length is 2; 2 ids that .*give --length 3 or"),
    Case(
        "train: a question without room for its context",
        _long_question,
        r"test\.jsonl: question 'was it a very good film' takes 9 of 9 ids .*a larger --length",
    ),
    Case("train: a name too long", _trained(GOOD, "--out", "x" * 240), r"its name is too long.*choose a shorter --out"),
)
