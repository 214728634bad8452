"""What can be wrong with the data that an artifact is judged by, and with what goes with them."""

from __future__ import annotations

from bad_input.case import Case, Place, Spoil, export

_ROWS = "text,label\na good film,positive\na bad film,negative\n"
_TAGS = "film B-LOC\nthe O\n\nbad O\n"


def _judged(*more: str, content: str = _ROWS, name: str = "data.csv", model: str = "tiny-classifier") -> Spoil:
    """An export of a small model that is judged on a file with this content."""

    def spoil(place: Place) -> list[str]:
        (place.root / name).write_text(content)
        return export(model, "--data", name, *more)

    return spoil


def _without_data(*more: str) -> Spoil:
    return lambda place: export("tiny-classifier", *more)


def _records(place: Place) -> list[str]:
    (place.root / "data.csv").write_text(_ROWS)
    place.copy("records")
    return export("m", "--data", "data.csv", "--max-drop", "1")


def _checked(*more: str, content: str = _ROWS, good: str = "artifact") -> Spoil:
    def spoil(place: Place) -> list[str]:
        (place.root / "data.csv").write_text(content)
        return ["check", str(place.copy(good, "a")), "--data", "data.csv", *more]

    return spoil


CASES = (
    Case("data: not there", _without_data("--data", "no.csv"), r"no\.csv: not found"),
    Case("data: unknown name", _without_data("--data", "movie-sentimant"), "did you mean 'movie-sentiment'"),
    Case(
        "data: unknown split",
        _without_data("--data", "movie-sentiment:tset"),
        "movie-sentiment: split 'tset' is unknown; did you mean 'test'",
    ),
    Case("data: empty", _judged(content=""), r"data\.csv.*empty"),
    Case("data: only a header", _judged(content="text,label\n"), r"data\.csv.*has no rows"),
    Case(
        "data: of tags", _judged(content=_TAGS, name="d.conll"), r"d\.conll: CoNLL holds tags .*for token-classificat"
    ),
    Case(
        "data: of questions", _judged(content="{}", name="d.json"), r"d\.json: .json is SQuAD, for question-answering"
    ),
    Case(
        "data: sentences for a reader",
        _judged(model="tiny-reader"),
        r"data\.csv: has no column 'question'; its columns are text, label",
    ),
    Case(
        "data: sentences for a tagger",
        _judged(model="tiny-tagger"),
        r"data\.csv:2: words and tags have to be lists; .* can be CoNLL",
    ),
    Case(
        "data: plain text for a reader",
        _judged(content="some text\n", name="d.txt", model="tiny-reader"),
        r"d\.txt: is plain text, and tiny-reader is a question-answering model; give questions with con",
    ),
    Case(
        "data: labels that are not the model's",
        _judged(content="text,label\na,positive\nb,so-so\n"),
        r"data\.csv:3: label 'so-so' is unknown; choose from negative, positive|did you mean",
    ),
    Case(
        "data: numbers beyond the model's labels",
        _judged(content="text,label\na,0\nb,2\n"),
        r"data\.csv:3: label 2 is outside 0\.\.1, the labels negative, positive",
    ),
    Case(
        "data: tags that are not the model's",
        _judged(content="a B-ORG\n", name="d.conll", model="tiny-tagger"),
        "B-ORG",
    ),
    Case(
        "data: missing column", _judged("--label-column", "lable"), r"data\.csv: has no column 'lable'; its columns are"
    ),
    Case(
        "data: labels for a model without",
        _judged("--label-column", "label", model="tiny-embedding"),
        "--label-column 'label': is not read for sentence-embedding; leave it out",
    ),
    Case(
        "data: drop without data", _without_data("--max-drop", "0.5"), "--max-drop is for judging on data: give --data"
    ),
    Case("data: limit without data", _without_data("--limit", "5"), "--limit is for judging on data: give --data, or"),
    Case(
        "data: teacher without data", _without_data("--teacher", "t"), "--teacher is for judging on data: give --data"
    ),
    Case(
        "data: column without data", _without_data("--text-column", "t"), "--text-column is for judging on data: give"
    ),
    Case("data: negative drop", _judged("--max-drop", "-0.5"), r"--max-drop -0\.5: expected points from 0 to 100"),
    Case("data: drop of letters", _judged("--max-drop", "none"), "'--max-drop': 'none' is not a valid float"),
    Case("data: drop that is no number", _judged("--max-drop", "nan"), "--max-drop nan: expected points from 0 to 100"),
    Case("data: limit 0", _judged("--limit", "0"), r"--limit 0: expected a number of rows >= 1; leave it out for all"),
    Case("data: limit below 0", _judged("--limit", "-3"), "--limit -3: expected a number of rows >= 1"),
    Case("data: unknown teacher", _judged("--teacher", "tiny-clasifier"), "did you mean 'tiny-classifier'"),
    Case(
        "data: teacher of another task",
        _judged("--teacher", "tiny-tagger"),
        "--teacher tiny-tagger: is a token-classification model, and tiny-classifier a sequence-classification model",
    ),
    Case("data: records without their float model", _records, "m: holds records, .*: give --against MODEL"),
    Case(
        "check: drop without data", lambda place: ["check", "a", "--max-drop", "1"], "--max-drop is for judging on data"
    ),
    Case("check: data for no artifact", lambda place: ["check", "a", "--data", "d.csv"], "a: no such artifact folder"),
    Case(
        "check: drop from nothing",
        _checked("--max-drop", "1"),
        r"--max-drop: the artifact is held against .* give --against MODEL \(it was made from 'tiny-classifier'\)",
        True,
    ),
    Case(
        "check: embeddings alone",
        _checked(good="embedder"),
        r"data\.csv: without labels, answers are held against .* give --against MODEL",
        True,
    ),
    Case(
        "check: labels that are not the artifact's",
        _checked(content="text,label\na,yes\n"),
        r"data\.csv:2: label 'yes' is unknown",
        True,
    ),
    Case(
        "check: a float model of other labels",
        _checked("--against", "tiny-tagger"),
        "--against tiny-tagger: is a token-classification model, and tiny-classifier-int8 a sequence-classification",
        True,
    ),
)
