"""What can be wrong with teachers, students, recipes and their options of `distill`."""

from __future__ import annotations

from pathlib import Path

from bad_input.case import GOOD, Case, Place, Spoil


def _taught(*more: str, teacher: str = "tiny-classifier", data: str = GOOD) -> Spoil:
    """`distill` from a model that has the labels of the data, but was never trained on them."""

    def spoil(place: Place) -> list[str]:
        (place.root / "data.csv").write_text(data.replace(",yes", ",positive").replace(",no", ",negative"))
        (place.root / "text.txt").write_text("a good film\n\na bad film\n")
        given = ["distill", "--teacher", teacher, "--student", "tiny-classifier", "--data", "data.csv"]
        return [*given, "--dev", "data.csv", "--out", "taught", "--skip-alone", "--anyway", *more]

    return spoil


def _other_vocabulary(place: Place) -> list[str]:
    from benchmarks.matrix_models import write_folder

    write_folder("roberta", "sentence-embedding", Path("other"))
    given = _taught("--recipe", "distilbert", "--general-teacher", "tiny-words", "--text", "text.txt")(place)
    given[given.index("--student") + 1] = "other"
    return given


def _narrow(place: Place) -> list[str]:
    given = _taught("--recipe", "pkd", "--depth", "2")(place)
    given[given.index("--student") + 1] = "tiny4"
    return given


def _of_list(student: str, *more: str) -> Spoil:
    def spoil(place: Place) -> list[str]:
        given = _taught(*more)(place)
        given[given.index("--student") + 1] = student
        return given

    return spoil


_TINY = ("--recipe", "tinybert", "--copies", "0", "--general-epochs", "0")


def _changes_nothing(option: str, why: str, *given: str) -> Case:
    """An option beside others that leave it without effect; all that it is given is its default."""
    recipe = given[given.index("--recipe") + 1] if "--recipe" in given else "hinton"
    return Case(
        f"distill: {option} of {recipe}, with {' '.join(given)}",
        _taught(*given),
        rf"recipe {recipe}: {option} changes nothing {why}; leave it out",
    )


def _augmented(place: Place) -> list[str]:
    (place.root / "more.jsonl").write_text('{"text": "a", "text_pair": null, "label": 7, "id": ""}\n')
    return _taught("--recipe", "tinybert", "--general-epochs", "0", "--augmented", "more.jsonl")(place)


def _vectors(place: Place) -> list[str]:
    (place.root / "glove.txt").write_text("good 0.5 1\nbad 0.5 1\nfilm 0.5 one\n")
    return _words("--recipe", "tinybert", "--general-epochs", "0", "--glove", "glove.txt")(place)


def _pairs(place: Place) -> list[str]:
    (place.root / "pairs.csv").write_text("text,text_pair\na film,a good one\n")
    return _words("--recipe", "distilbert", "--text", "pairs.csv")(place)


def _words(*more: str) -> Spoil:
    return _taught("--general-teacher", "tiny-words", *more)


def _several(place: Place) -> list[str]:
    rows = (
        '{"text": "a good film", "label": ["positive"]}\n',
        '{"text": "a film", "label": ["negative", "positive"]}\n',
    )
    (place.root / "several.jsonl").write_text("".join(rows * 4))
    return _taught("--data", "several.jsonl", "--dev", "several.jsonl")(place)


def _tagger(place: Place) -> list[str]:
    """Never trained, and asked of words that it does not know."""
    tags = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
    lines = [f"{word} {tags[i % 5] if i % 4 == 0 else 'O'}\n" for i, word in enumerate("the film was bad".split() * 20)]
    (place.root / "data.conll").write_text("".join(line + "\n" * (i % 4 == 3) for i, line in enumerate(lines)))
    given = _taught("--data", "data.conll", "--dev", "data.conll", "--task", "token-classification", teacher="tagger")(
        place
    )
    place.copy("tiny-tagger", "tagger")
    given.remove("--anyway")
    return given


CASES = (
    Case("distill: unknown recipe", _taught("--recipe", "pdk"), r"recipe 'pdk' is unknown; did you mean 'pkd'"),
    Case("distill: temperature 0", _taught("--temperature", "0"), r"temperature is 0\.0; it has to be above 0"),
    Case("distill: temperature nan", _taught("--temperature", "nan"), r"temperature is nan"),
    Case("distill: temperature beyond sense", _taught("--temperature", "1e200"), r"temperature is 1e\+200"),
    Case(
        "distill: nothing to learn",
        _taught(*_TINY, "--embedding", "0", "--attention", "0", "--hidden", "0"),
        r"are all 0: nothing is left to learn",
    ),
    Case("distill: soft beyond 1", _taught("--soft", "1.1"), r"soft is 1\.1; it has to be 0 to 1"),
    Case(
        "distill: another recipe's option", _taught("--beta", "1"), r"recipe hinton has no option --beta; it has: --m"
    ),
    Case("distill: no dev data", _taught("--dev", "nothing.csv"), r"nothing\.csv"),
    Case(
        "distill: other labels",
        _taught(teacher="tiny-tagger"),
        r"teacher tiny-tagger: its labels \(O, B-PER.*fine-tune it on them first",
    ),
    Case(
        "distill: layer map out of range",
        _taught(*_TINY, "--layer-map", "0,2"),
        r"layer-map '0,2': layer 2 is out of range; the teacher's are 0 to 1",
    ),
    Case(
        "distill: layer map of words",
        _taught(*_TINY, "--layer-map", "a,b"),
        r"layer-map 'a,b': give numbers of the teacher's layers",
    ),
    Case("distill: student deeper", _of_list("distil6"), r"student has 6 layers, its teacher 2.*may not be deeper"),
    Case("distill: layers out of range", _of_list("distil6", "--depth", "1", "--layers", "7"), r"layer 7 is out of"),
    Case("distill: student unknown", _of_list("distil7"), r"student 'distil7' is unknown; did you mean 'distil6'"),
    Case(
        "distill: making a student that is there", _taught("--groups", "2"), r"--groups is for students that are made"
    ),
    Case("distill: vocabularies differ", _other_vocabulary, r"do not have one vocabulary"),
    Case("distill: widths differ", _narrow, r"32 wide, teacher tiny-classifier 64"),
    Case(
        "distill: no general teacher",
        _taught("--recipe", "distilbert", "--text", "text.txt"),
        r"needs --general-teacher.*pretrain --head-only",
    ),
    Case(
        "distill: no text",
        _taught("--recipe", "distilbert", "--general-teacher", "tiny-words"),
        r"needs --text; --general-epochs 0 leaves it out",
    ),
    Case(
        "distill: word vectors that are not there",
        _taught("--recipe", "tinybert", "--general-teacher", "tiny-words", "--text", "text.txt", "--glove", "g.txt"),
        r"g\.txt.*not found",
    ),
    Case(
        "distill: text that nothing reads",
        _taught("--text", "text.txt"),
        r"recipe hinton has no stage on plain text here: leave out --text",
    ),
    Case("distill: resume and force", _taught("--resume", "--force"), r"give one of them"),
    _changes_nothing("--temperature", "with --match logits", "--temperature", "2", "--match", "logits"),
    _changes_nothing("--match", "with --soft 0", "--match", "probabilities", "--soft", "0"),
    _changes_nothing("--patience", "with --beta 0", "--recipe", "pkd", "--patience", "skip", "--beta", "0"),
    _changes_nothing("--glove", "with --copies 0", *_TINY, "--glove", "g.txt"),
    _changes_nothing("--augmented", "with --copies 0", *_TINY, "--augmented", "a.jsonl"),
    _changes_nothing("--probability", "with --copies 0", *_TINY, "--probability", "0.4"),
    _changes_nothing("--candidates", "with --copies 0", *_TINY, "--candidates", "15"),
    _changes_nothing("--at-once", "with --copies 0", *_TINY, "--at-once", "0.15"),
    _changes_nothing("--inner-rate", "with --inner-epochs 0", *_TINY, "--inner-epochs", "0", "--inner-rate", "2e-4"),
    _changes_nothing("--attention", "with .* 0 and with .* 0", *_TINY, "--inner-epochs", "0", "--attention", "1"),
    _changes_nothing("--layer-map", "with .*", *_TINY, "--attention", "0", "--hidden", "0", "--layer-map", "0,1"),
    _changes_nothing("--general-rate", "with --general-epochs 0", *_TINY, "--general-rate", "2e-4"),
    _changes_nothing(
        "--cosine", "with --general-epochs 0", "--recipe", "distilbert", "--general-epochs", "0", "--cosine", "1"
    ),
    Case(
        "distill: an option of another student",
        _of_list("tiny4", "--groups", "1"),
        r"student tiny4 has no option --groups, which is for albert; leave it out",
    ),
    Case("distill: sharing of a distil6", _of_list("distil6", "--sharing", "all"), r"distil6 has no option --sharing"),
    Case(
        "distill: embeddings of a distil6",
        _of_list("distil6", "--embedding-size", "0"),
        r"student distil6 has no option --embedding-size, which is for albert",
    ),
    Case(
        "distill: groups that share nothing",
        _of_list("albert", "--embedding-size", "0", "--sharing", "none", "--groups", "1"),
        r"with --sharing none leave out --groups",
    ),
    Case("distill: no layers", _of_list("distil6", "--depth", "0"), r"depth is 0; it has to be at least 1"),
    Case(
        "distill: layers unknown",
        _of_list("albert", "--embedding-size", "0", "--layers", "meen"),
        r"layers 'meen': give spaced, first, last, mapped, none, mean, or numbers",
    ),
    Case("distill: making nothing", _taught("--groups", "1"), r"--groups is for students that are made from a teacher"),
    Case("distill: a general teacher that nobody asks", _words(), r"hinton has no use for a general teacher here"),
    Case(
        "distill: a general teacher without its stage",
        _words("--recipe", "distilbert", "--general-epochs", "0"),
        r"recipe distilbert has no use for a general teacher here: leave out --general-teacher",
    ),
    Case(
        "distill: text without its stage",
        _taught(*_TINY, "--text", "text.txt"),
        r"recipe tinybert has no stage on plain text here: leave out --text",
    ),
    Case(
        "distill: text for a student that does not ask",
        _of_list("distil6", "--depth", "1", "--text", "text.txt"),
        r"recipe hinton has no stage on plain text here",
    ),
    Case(
        "distill: labels of variations",
        _augmented,
        r"more\.jsonl:1: label 7 is none of the data's \(negative, positive\); remove the file",
    ),
    Case(
        "distill: variations in a folder",
        _words("--recipe", "tinybert", "--general-epochs", "0", "--augmented", "."),
        r"\.: cannot be written; --augmented takes a file",
    ),
    Case("distill: word vectors of letters", _vectors, r"glove\.txt:3: 'one' is not a number"),
    Case("distill: pairs of texts", _pairs, r"pairs\.csv: each row has a second text, 'text_pair'"),
    Case("distill: all texts empty", _words("--recipe", "distilbert", "--text", "empty.csv"), r"empty\.csv"),
    Case(
        "distill: a teacher of single labels",
        _several,
        r"was trained for single_label_classification, and the data are multi_label_classification; take a teacher",
    ),
    Case(
        "distill: a tagger that guesses",
        _tagger,
        r"teacher tagger: .* of the words right on data\.conll, always giving 'O' is .*--anyway",
    ),
    Case("distill: a name too long", _taught("--out", "x" * 240), r"its name is too long.*choose a shorter --out"),
    Case(
        "distill: pooling of tags",
        lambda place: [*_tagger(place), "--pooling", "mean"],
        r"pooling: is of classifiers of whole texts",
    ),
)
