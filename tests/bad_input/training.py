"""What can be wrong with data, teachers, students and options of `train`, `distill` and `pretrain`."""

from __future__ import annotations

from pathlib import Path

from bad_input.case import Case, Place, Spoil

_GOOD = "text,label\n" + "".join(f"{word} film,{label}\n" for word, label in (("good", "yes"), ("bad", "no")) * 4)


def _trained(data: str | bytes, *more: str, name: str = "data.csv") -> Spoil:
    """`train` on a file with this content."""

    def spoil(place: Place) -> list[str]:
        content = data if isinstance(data, bytes) else data.encode()
        (place.root / name).write_bytes(content)
        return ["train", "--model", "tiny-classifier", "--data", name, "--out", "trained", *more]

    return spoil


def _taught(*more: str, teacher: str = "tiny-classifier", data: str = _GOOD) -> Spoil:
    """`distill` from a model that has the labels of the data, but was never trained on them."""

    def spoil(place: Place) -> list[str]:
        (place.root / "data.csv").write_text(data.replace(",yes", ",positive").replace(",no", ",negative"))
        (place.root / "text.txt").write_text("a good film\n\na bad film\n")
        given = ["distill", "--teacher", teacher, "--student", "tiny-classifier", "--data", "data.csv"]
        return [*given, "--dev", "data.csv", "--out", "taught", "--skip-alone", "--anyway", *more]

    return spoil


def _pretrained(*more: str, text: str | None = "a good film\n\na bad film\n") -> Spoil:
    def spoil(place: Place) -> list[str]:
        if text is not None:
            (place.root / "text.txt").write_text(text)
        return ["pretrain", "--model", "tiny-words", "--text", "text.txt", "--out", "words", *more]

    return spoil


def _dev_label(place: Place) -> list[str]:
    (place.root / "dev.csv").write_text("text,label\na film,yes\nanother,maybe\n")
    return [*_trained(_GOOD)(place), "--dev", "dev.csv"]


def _ended(place: Place) -> list[str]:
    (place.root / "trained.training" / "checkpoint").mkdir(parents=True)
    (place.root / "trained.training" / ".mobilekit-run").touch()
    return _trained(_GOOD)(place)


def _precious(place: Place) -> list[str]:
    (place.root / "trained.training").mkdir()
    (place.root / "trained.training" / "thesis").write_text("x")
    return _trained(_GOOD)(place)


def _linked(place: Place) -> list[str]:
    (place.root / "real").mkdir()
    (place.root / "real" / "thesis").write_text("x")
    (place.root / "trained.training").symlink_to(place.root / "real")
    return _trained(_GOOD)(place)


def _file_for_work(place: Place) -> list[str]:
    (place.root / "trained.training").write_text("x")
    return _trained(_GOOD)(place)


def _precious_out(place: Place) -> list[str]:
    (place.root / "trained").mkdir()
    (place.root / "trained" / "thesis").write_text("x")
    return [*_trained(_GOOD)(place), "--force"]


def _resumed_nothing(place: Place) -> list[str]:
    return [*_trained(_GOOD)(place), "--resume"]


def _existing(place: Place) -> list[str]:
    (place.root / "trained").mkdir()
    return _trained(_GOOD)(place)


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

CASES = (
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
        _trained(_GOOD, "--label-column", "labl"),
        r"data\.csv.*no column 'labl'; .*label",
    ),
    Case("train: unknown data", _trained(_GOOD, "--data", "movie-sentimant"), r"did you mean 'movie-sentiment'"),
    Case("train: label of dev outside the set", _dev_label, r"dev\.csv:3: .*'maybe'.*no, yes"),
    Case("train: dev data that are not there", _trained(_GOOD, "--dev", "dev.csv"), r"dev\.csv"),
    Case("train: no epochs", _trained(_GOOD, "--epochs", "0"), r"epochs is 0; it has to be at least 1"),
    Case("train: unknown optimizer", _trained(_GOOD, "--optimizer", "lam"), r"did you mean 'lamb'"),
    Case("train: unknown pooling", _trained(_GOOD, "--pooling", "meen"), r"did you mean 'mean'"),
    Case("train: a folder that is there", _existing, r"trained: exists already; --force replaces it"),
    Case("train: an ended run", _ended, r"trained\.training: a run was ended there; --resume goes on with it"),
    Case("train: somebody's folder", _precious, r"trained\.training: is not of a run"),
    Case("train: a link for a folder", _linked, r"trained\.training: is a link or a file"),
    Case("train: a file for a folder", _file_for_work, r"trained\.training: is a link or a file"),
    Case("train: force over what is not a model", _precious_out, r"trained: has no config\.json.*does not replace it"),
    Case("train: seed beyond numbers", _trained(_GOOD, "--seed", "1" + "0" * 20), r"seed is 1"),
    Case("train: nothing to resume", _resumed_nothing, r"no checkpoint to go on from; start without --resume"),
    Case("train: resume and force", _trained(_GOOD, "--resume", "--force"), r"give one of them"),
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
        r"recipe hinton has no stage on plain text: leave out --general-teacher and --text",
    ),
    Case("distill: resume and force", _taught("--resume", "--force"), r"give one of them"),
    Case("pretrain: no text", _pretrained(text=""), r"text\.txt.*empty"),
    Case("pretrain: text that is not there", _pretrained(text=None), r"text\.txt"),
    Case("pretrain: unknown pair task", _pretrained("--pair-task", "sopp"), r"did you mean 'sop'"),
    Case("pretrain: no pairs", _pretrained("--pair-task", "sop"), r"consecutive sentences"),
    Case("pretrain: a student without a teacher", _pretrained("--model", "albert"), r"name it with --teacher"),
    Case("pretrain: options without a recipe", _pretrained("--cosine", "1"), r"--cosine is an option of recipes"),
    Case("pretrain: a recipe without such stages", _pretrained("--recipe", "pkd"), r"has no stage on plain text"),
)
