"""What can be wrong with text, models and options of `pretrain`."""

from __future__ import annotations

from bad_input.case import Case, Place, Spoil


def _pretrained(*more: str, text: str | None = "a good film\n\na bad film\n") -> Spoil:
    def spoil(place: Place) -> list[str]:
        if text is not None:
            (place.root / "text.txt").write_text(text)
        return ["pretrain", "--model", "tiny-words", "--text", "text.txt", "--out", "words", *more]

    return spoil


def _table(*more: str) -> Spoil:
    """Texts in a table."""

    def spoil(place: Place) -> list[str]:
        (place.root / "pairs.csv").write_text("text,text_pair\na film,a good one\nanother,a bad one\n")
        return ["pretrain", "--model", "tiny-words", "--text", "pairs.csv", "--out", "words", *more]

    return spoil


def _one_document(place: Place) -> list[str]:
    (place.root / "test.txt").write_text("a good film\na bad film\nthe film\n")
    text = "a good film\na bad film\n\nthe good\nthe bad\n"
    return _pretrained("--pair-task", "nsp", "--test", "test.txt", text=text)(place)


def _made(model: str, *more: str) -> Spoil:
    """With a student that is made, and the teacher that it is made from."""
    return _pretrained("--model", model, "--teacher", "tiny-words", "--depth", "1", *more)


CASES = (
    Case("pretrain: no text", _pretrained(text=""), r"text\.txt.*empty"),
    Case("pretrain: text that is not there", _pretrained(text=None), r"text\.txt"),
    Case("pretrain: unknown pair task", _pretrained("--pair-task", "sopp"), r"did you mean 'sop'"),
    Case("pretrain: no pairs", _pretrained("--pair-task", "sop"), r"consecutive sentences"),
    Case("pretrain: a student without a teacher", _pretrained("--model", "albert"), r"name it with --teacher"),
    Case("pretrain: options without a recipe", _pretrained("--cosine", "1"), r"--cosine is an option of recipes"),
    Case("pretrain: a recipe without such stages", _pretrained("--recipe", "pkd"), r"has no stage on plain text"),
    Case("pretrain: nothing to read", lambda place: ["pretrain", "--out", "words"], r"name it with --text"),
    Case("pretrain: no room for text", _pretrained("--length", "2"), r"length is 2; .*give --length 3 or more"),
    Case(
        "pretrain: no room for pairs",
        _pretrained("--length", "4", "--pair-task", "sop"),
        r"length is 4; 3 ids that are special .*give --length 5 or more",
    ),
    Case(
        "pretrain: pairs of texts", _table(), r"pairs\.csv: each row has a second text, 'text_pair'.*make rows of both"
    ),
    Case(
        "pretrain: a table without the column",
        _table("--corpus-column", "sentence"),
        r"pairs\.csv: has no column 'sentence'; its columns are text, text_pair. .*--corpus-column",
    ),
    Case(
        "pretrain: a column of what is no table",
        _pretrained("--corpus-column", "text"),
        r"corpus column 'text': none of the texts is a table with columns; leave it out",
    ),
    Case("pretrain: one document to judge by", _one_document, r"the test text is a single document: .*or take sop"),
    Case("pretrain: an option of the task", _made("distil6", "--recipe", "distilbert", "--soft", "0.9"), r"--soft"),
    Case("pretrain: no passes", _made("distil6", "--recipe", "distilbert", "--general-epochs", "0"), r"--general-ep"),
    Case(
        "pretrain: an option that such a stage does not read",
        _made("distil6", "--recipe", "tinybert", "--temperature", "1"),
        r"recipe tinybert: --temperature changes nothing without labelled data; leave it out",
    ),
    Case(
        "pretrain: an option of what has no weight",
        _made("distil6", "--recipe", "distilbert", "--cosine", "0", "--cosine-layer", "last"),
        r"recipe distilbert: --cosine-layer changes nothing with --cosine 0; leave it out",
    ),
    Case(
        "pretrain: nothing to learn",
        _made("distil6", "--recipe", "distilbert", "--soft-words", "0", "--masked-words", "0", "--cosine", "0"),
        r"are all 0: nothing is left to learn on plain text",
    ),
    Case(
        "pretrain: embeddings of two widths",
        _made("albert", "--embedding-size", "32", "--recipe", "distilbert", "--cosine-layer", "embedding"),
        r"are 32 wide, those of teacher tiny-words 64.*--cosine-layer last, or --cosine 0",
    ),
    Case(
        "pretrain: a teacher that nobody asks",
        _pretrained("--teacher", "tiny-words"),
        r"--teacher is what a student \(albert, distil6, tiny4\) is made from.*'tiny-words' is what it is: leave",
    ),
    Case(
        "pretrain: a recipe that asks no teacher",
        _pretrained("--teacher", "tiny-words", "--recipe", "pretrained"),
        r"recipe pretrained has no teacher here: leave it out",
    ),
    Case("pretrain: a recipe without its teacher", _pretrained("--recipe", "tinybert"), r"tinybert: needs --teacher"),
    Case(
        "pretrain: text that chooses nothing",
        _made("distil6", "--recipe", "tinybert", "--dev", "text.txt"),
        r"recipe tinybert: no text chooses its best epoch.*leave out --dev",
    ),
)
