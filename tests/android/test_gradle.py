"""Android Studio builds the app by Gradle, and we test it by Maven: both have to mean the same app."""

from __future__ import annotations

import re
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from mobilekit.text.calibration import TEXTS

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "android_demo"
APP = DEMO / "app"
POM = "{http://maven.apache.org/POM/4.0.0}"
ANDROID = "{http://schemas.android.com/apk/res/android}"
MODULES = ("core", "engines", "app")
# What ships in place of what is compiled against here, where that cannot be had: android_demo/README.md.
ELSEWHERE = {"litert", "executorch", "agp"}


def pom(folder: Path) -> ET.Element:
    return ET.parse(folder / "pom.xml").getroot()


def properties(folder: Path) -> dict[str, str]:
    return {item.tag.removeprefix(POM): item.text or "" for item in pom(folder).find(f"{POM}properties") or ()}


def gradle(module: str) -> str:
    return (DEMO / module / "build.gradle.kts").read_text(encoding="utf-8")


def number(name: str, module: str = "app") -> int:
    found = re.search(rf"\b{name} = (\d+)", gradle(module))
    assert found is not None, f"{module}/build.gradle.kts has no {name}"
    return int(found[1])


def test_gradle_has_the_modules_that_maven_tests() -> None:
    included = re.findall(r'":(\w+)"', (DEMO / "settings.gradle.kts").read_text(encoding="utf-8"))
    modules = [item.text for item in pom(DEMO).iter(f"{POM}module")]
    assert tuple(included) == MODULES
    assert set(included) <= set(modules)


def test_versions_of_what_both_take_are_equal() -> None:
    catalogue = tomllib.loads((DEMO / "gradle" / "libs.versions.toml").read_text(encoding="utf-8"))
    ours = properties(DEMO)
    names = {"kotlin": "kotlin.version", "serialization": "kotlinx-serialization.version", "junit": "junit.version"}
    assert set(catalogue["versions"]) - ELSEWHERE == set(names)
    for name, property_name in names.items():
        assert catalogue["versions"][name] == ours[property_name], name
    for library in catalogue["libraries"].values():
        assert set(library) == {"module", "version"} and library["version"]["ref"] in catalogue["versions"]


def test_gradle_takes_no_library_that_maven_does_not_know() -> None:
    catalogue = tomllib.loads((DEMO / "gradle" / "libs.versions.toml").read_text(encoding="utf-8"))
    modules = {item["module"] for item in catalogue["libraries"].values()}
    # Gradle finds the variant for the JVM by itself; Maven has to name it.
    known = {
        f"{item.findtext(f'{POM}groupId')}:{(item.findtext(f'{POM}artifactId') or '').removesuffix('-jvm')}"
        for item in pom(DEMO).iter(f"{POM}dependency")
    }
    assert modules - known == {"com.google.ai.edge.litert:litert", "org.pytorch:executorch-android"}
    for module in MODULES:
        for used in re.findall(r"libs\.([a-z.]+)", gradle(module)):
            name = used.removeprefix("plugins.").replace(".", "-")
            assert name in catalogue["plugins" if used.startswith("plugins.") else "libraries"], used


def test_both_compile_the_same_sources() -> None:
    """Neither names folders of its own but Maven, which names Gradle's usual ones."""
    assert all("sourceSets" not in gradle(module) for module in MODULES)
    assert pom(DEMO).findtext(f"{POM}build/{POM}sourceDirectory") == "src/main/kotlin"
    listed = {item.text for item in pom(APP).iter(f"{POM}sourceDir")}
    assert listed == {"${basedir}/src/main/kotlin", "${basedir}/src/debug/kotlin", "${generated}/java"}
    aapt2 = " ".join(item.get("line", "") for item in pom(APP).iter(f"{POM}arg"))
    assert "src/main/res" in aapt2 and "src/debug/res" in aapt2
    named = {path.name for path in (APP / "src").iterdir()}
    assert named <= {"main", "debug", "test"}, "a source set that Maven does not compile"
    for module in MODULES:
        assert not list((DEMO / module / "src").glob("*/java")), "Maven compiles Kotlin alone"


def test_levels_of_android_are_equal() -> None:
    ours = properties(APP)
    assert str(number("minSdk")) == ours["minSdk"] == "26"
    assert str(number("targetSdk")) == ours["targetSdk"] == "36"
    assert number("minSdk", "engines") == number("minSdk")
    assert 'versionName = "0.1.0"' in gradle("app")
    assert pom(DEMO).findtext(f"{POM}version") == "0.1.0"
    assert properties(DEMO)["kotlin.compiler.jvmTarget"] == "17"
    assert all("JVM_17" in gradle(module) for module in MODULES)


def manifest(build: str) -> ET.Element:
    return ET.parse(APP / "src" / build / "AndroidManifest.xml").getroot()


def components(root: ET.Element) -> list[ET.Element]:
    return [item for item in root.iter() if item.tag in {"activity", "service", "receiver", "provider"}]


def test_a_release_shows_other_apps_its_launcher_alone() -> None:
    exported = [item for item in components(manifest("main")) if item.get(f"{ANDROID}exported") != "false"]
    assert [item.get(f"{ANDROID}name") for item in exported] == [".artifacts.ArtifactsActivity"]
    assert "eadless" not in (APP / "src/main/AndroidManifest.xml").read_text(encoding="utf-8")


def test_measuring_through_adb_is_in_debug_builds_alone() -> None:
    (activity,) = components(manifest("debug"))
    assert activity.get(f"{ANDROID}name") == ".headless.HeadlessActivity"
    assert activity.get(f"{ANDROID}exported") == "true"
    package = "kotlin/org/mobilekit/demo/headless"
    assert (APP / "src/debug" / package / "HeadlessActivity.kt").is_file()
    assert not (APP / "src/main" / package).exists()


def test_reports_are_given_read_only_and_one_by_one() -> None:
    (provider,) = (item for item in components(manifest("main")) if item.tag == "provider")
    assert provider.get(f"{ANDROID}exported") == "false"
    assert provider.get(f"{ANDROID}grantUriPermissions") == "true"
    source = (APP / "src/main/kotlin/org/mobilekit/demo/report/ReportProvider.kt").read_text(encoding="utf-8")
    assert f'AUTHORITY = "{provider.get(f"{ANDROID}authorities")}"' in source


def test_the_app_asks_for_no_permission() -> None:
    for build in ("main", "debug"):
        assert not [item for item in manifest(build) if "permission" in item.tag]


@pytest.mark.parametrize("name", ["tflite", "pte", "mkpack"])
def test_models_are_not_compressed_in_the_apk(name: str) -> None:
    assert f'"{name}"' in gradle("app").split("noCompress", 1)[1].splitlines()[0]


def test_phones_measure_the_texts_that_hosts_measure() -> None:
    from benchmarks.measuring.texts import COUNT

    lines = (APP / "src/main/res/raw/texts.txt").read_text(encoding="utf-8").splitlines()
    assert lines == list(TEXTS[:COUNT])


def test_no_class_of_androidx_is_used() -> None:
    for file in APP.glob("src/*/kotlin/**/*.kt"):
        if "test" not in file.relative_to(APP).parts:
            assert "androidx" not in file.read_text(encoding="utf-8"), file


def test_strings_stand_in_resources() -> None:
    """Layouts have no text of their own."""
    for file in APP.glob("src/*/res/layout*/*.xml"):
        for item in ET.parse(file).getroot().iter():
            for name in ("text", "hint", "contentDescription"):
                value = item.get(f"{ANDROID}{name}")
                assert value is None or value.startswith("@string/"), f"{file}: {value}"
