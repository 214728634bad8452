"""mobilekit doctor: versions, what is usable and why not, names taken by others, the machine."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from mobilekit import doctor, host
from mobilekit.cli.doctor import command, render

APPLE = """\
hw.optional.arm.FEAT_DotProd: 1
hw.optional.arm.FEAT_I8MM: 0
hw.optional.AdvSIMD: 1
hw.optional.arm.FEAT_FP16: 1
machdep.cpu.brand_string: Apple M2
"""
PHONE = "processor\t: 0\nFeatures\t: fp asimd asimdhp asimddp\n\nprocessor\t: 1\nFeatures\t: fp\n"
XEON = "processor\t: 0\nmodel name\t: A Xeon\nflags\t\t: fpu avx2 f16c avx512_vnni\n"


@pytest.fixture(scope="module")
def diagnosis() -> doctor.Diagnosis:
    return doctor.diagnose()


def package(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").touch()
    return folder


def distribution(folder: Path, name: str, file: str) -> None:
    """A foreign distribution's record of having installed `file` into `folder`."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text(f"{file},,\n")


def test_no_engine_is_imported_and_every_target_and_runtime_is_told() -> None:
    code = (
        "import json, sys; from mobilekit.doctor import diagnose; d = diagnose()\n"
        "heavy = [m for m in ('torch', 'executorch', 'coremltools', 'tensorflow') if m in sys.modules]\n"
        "print(json.dumps([heavy, [t.name for t in d.targets], [r.name for r in d.runtimes]]))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy, targets, runtimes = json.loads(out)
    assert heavy == []
    assert targets == ["coreml", "executorch", "tflite"]
    assert {"eager", "executorch", "litert", "coreml", "coreml_reference"} <= set(runtimes)


def test_text_has_every_section(diagnosis: doctor.Diagnosis) -> None:
    text = render(diagnosis)
    for title in (
        "packages",
        "targets that can be exported",
        "runtimes that can be used",
        "package names",
        "machine",
    ):
        assert f"\n{title}\n" in text
    assert f"torch            {diagnosis.packages['torch']}" in text


def test_json_is_one_object_with_the_same_facts() -> None:
    result = CliRunner().invoke(command, ["--json"])
    assert result.exit_code == 0
    told = json.loads(result.output)
    assert told["packages"]["numpy"] and told["host"]["cpus"] >= 1 and told["host"]["memory_bytes"] > 0


def test_help_has_examples() -> None:
    assert "mobilekit doctor --json" in CliRunner().invoke(command, ["--help"]).output


def test_a_missing_package_names_the_extra_that_brings_it() -> None:
    assert doctor.why_not(("no_such_engine",), "coreml", {}) == (
        'no_such_engine is not installed: pip install "mobilekit[coreml]"'
    )


def test_a_numpy_that_breaks_coremltools_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.host, "is_installed", lambda package: True)
    versions = {"numpy": "2.4.0", "coremltools": "9.0"}
    assert "numpy 2.4.0 breaks coremltools 9.0" in doctor.why_not(("coremltools",), "coreml", versions)
    assert doctor.why_not(("executorch",), "executorch", versions) == ""
    assert doctor.why_not(("coremltools",), "coreml", {"numpy": "2.3.5"}) == ""


@pytest.mark.skipif(sys.platform == "darwin", reason="native there")
def test_off_macos_the_native_runtime_names_the_one_that_works_here(diagnosis: doctor.Diagnosis) -> None:
    [native] = [runtime for runtime in diagnosis.runtimes if runtime.name == "coreml"]
    assert not native.usable
    assert native.reason == "needs macOS; here coreml_reference runs its files"


def test_ours_alone_is_no_shadow(tmp_path: Path) -> None:
    ours = package(tmp_path / "ours", "export")
    assert doctor.find_shadows([str(ours), str(tmp_path)], root=ours) == ()


def test_a_file_before_ours_hides_it(tmp_path: Path) -> None:
    ours = package(tmp_path / "ours", "export")
    (tmp_path / "export.py").touch()
    [shadow] = doctor.find_shadows([str(tmp_path), str(ours)], root=ours)
    assert (shadow.name, shadow.location) == ("export", str(tmp_path / "export.py"))
    assert shadow.hides_ours and "another folder" in shadow.remedy


def test_a_package_after_ours_does_no_harm_but_is_told(tmp_path: Path) -> None:
    ours, other = package(tmp_path / "ours", "benchmarks"), package(tmp_path / "other", "benchmarks")
    distribution(other, "foreign", "benchmarks/__init__.py")
    [shadow] = doctor.find_shadows([str(ours), str(other)], root=ours)
    assert not shadow.hides_ours
    assert shadow.distribution == "foreign"


def test_a_distribution_that_installed_over_ours_is_told(tmp_path: Path) -> None:
    site = package(tmp_path, "export")
    distribution(site, "foreign", "export/__init__.py")
    [shadow] = doctor.find_shadows([str(site)], root=site)
    assert shadow.hides_ours and "pip uninstall foreign" in shadow.remedy


def test_a_folder_without_init_is_no_shadow(tmp_path: Path) -> None:
    ours = package(tmp_path / "ours", "export")
    (tmp_path / "export").mkdir()
    assert doctor.find_shadows([str(tmp_path), str(ours)], root=ours) == ()


def test_a_hiding_package_is_told_and_still_exits_0(tmp_path: Path) -> None:
    (tmp_path / "export.py").write_text("raise RuntimeError('not ours')")
    code = "from mobilekit.cli.doctor import command; command()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "export.py HIDES OURS: rename it, or run from another folder" in done.stdout


@pytest.mark.parametrize(
    ("parse", "text", "processor", "expected"),
    [
        (host._parse_sysctl, APPLE, "Apple M2", ("neon", "fp16", "dotprod")),
        (host._parse_cpuinfo, PHONE, "", ("neon", "fp16", "dotprod")),
        (host._parse_cpuinfo, XEON, "A Xeon", ("avx2", "f16c", "avx512-vnni")),
    ],
)
def test_cpu_features_have_one_name_on_every_system(
    monkeypatch: pytest.MonkeyPatch,
    parse: Callable[[str], tuple[str, frozenset[str]]],
    text: str,
    processor: str,
    expected: tuple[str, ...],
) -> None:
    monkeypatch.setattr(host, "_processor", lambda: parse(text))
    described = host.describe()
    assert (described.processor, described.cpu_features) == (processor, expected)


def test_thread_settings_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert host.describe().threads["OMP_NUM_THREADS"] == "3"
