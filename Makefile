# `make` lists the targets. The logic is in scripts/.
.DEFAULT_GOAL := help
PY := .venv/bin/python
# Tests at a time, each file's one after the other; WORKERS=0 for a debugger.
WORKERS ?= 2
PYTEST = $(PY) -m pytest -n $(WORKERS) --dist loadfile

.PHONY: help
help: ## this list
	@sed -nE 's/^([a-z0-9-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  make %-18s %s\n' "$$name" "$$text"; done

.PHONY: setup
setup: ## build .venv (nothing to do when nothing changed); EXTRAS=all,dev by default
	@EXTRAS="$(EXTRAS)" PYTHON="$(PYTHON)" scripts/setup.sh

.PHONY: setup-tensorflow
setup-tensorflow: ## the same with tensorflow, as CI has it
	@EXTRAS=all,dev,tensorflow PYTHON="$(PYTHON)" scripts/setup.sh

.PHONY: demo
demo: setup ## export the built-in 6-layer MiniLM at int8 to all targets, check each file, print the table
	@$(PY) -m mobilekit export --model minilm-l6 --scheme int8 --out out --force

.PHONY: students
students: setup ## train a teacher and a six-layer student of it, short, and export the student (some ten minutes)
	@$(PY) -m benchmarks.shortstudents

.PHONY: test
test: setup lint ## everything that CI holds: lint, types, import rules, all tests
	$(PYTEST)

.PHONY: test-all
test-all: test ## the same, and every family with every head on every target (some 10 minutes more)
	$(PY) -m benchmarks.matrix --out benchmarks/results/matrix.json

.PHONY: test-fast
test-fast: setup ## the tests without real weights and real engines
	$(PYTEST) -m "not slow"

.PHONY: test-macos
test-macos: ## on a Mac: the tests of the native Core ML runtime
	@[ "$$(uname -s)" = Darwin ] || { echo "error: make test-macos needs macOS; this is $$(uname -s)." >&2; exit 2; }
	@$(MAKE) --no-print-directory setup
	$(PY) -m pytest -m macos

.PHONY: test-android
test-android: setup ## the Android demo's tests, with a JDK and Maven, without an Android SDK (some 10 minutes at first)
	@scripts/test_android.sh

.PHONY: android-assets
android-assets: setup ## copy artifacts into the Android demo: ARTIFACTS="out/a/tflite out/b/executorch"; PACK=1 as packs
	@[ -n "$(ARTIFACTS)" ] || { echo 'error: name them: make android-assets ARTIFACTS="out/minilm-l6-int8/tflite"' >&2; exit 2; }
	@PYTHONPATH=. $(PY) scripts/android_assets.py $(ARTIFACTS) $(if $(PACK),--pack)

.PHONY: android-screenshots
android-screenshots: test-android ## draw the Android demo's screens anew, into docs/images/android
	@mvn -q -B -f android_demo/pom.xml test -pl app -am -Dtest='ScreenshotTest,RealModelTest' \
		-Dsurefire.failIfNoSpecifiedTests=false -Dmobilekit.vectors="$(CURDIR)/build/android-vectors" \
		-Daapt2="$$(scripts/android_tools.sh)" -Dexecutorch.classes="$$(scripts/android_classes.sh)" \
		-Dscreenshots="$(CURDIR)/build/android-screenshots"
	@$(PY) scripts/android_screenshots.py build/android-screenshots docs/images/android

.PHONY: format-android
format-android: ## rewrite the Android demo's Kotlin as ktlint would have it
	@scripts/ktlint.sh --format

.PHONY: check-mediapipe
check-mediapipe: setup ## open exported .tflite files with MediaPipe (in an environment of its own) and compare
	@scripts/check_mediapipe.sh

.PHONY: arm64
arm64: ## fetch what `check --arm64` runs on into the cache: an emulator, arm64 Python and engines (250 MB)
	@PYTHON="$(PYTHON)" scripts/arm64.sh

.PHONY: results
results: setup ## all committed results made again, and the documents' tables (days, most of it training)
	$(PY) -m benchmarks.regenerate

.PHONY: lint
lint: setup ## ruff (lint, format), mypy, import rules
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

.PHONY: format
format: setup ## rewrite the code as ruff would have it
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

.PHONY: lock
lock: ## write requirements.lock from pyproject.toml
	scripts/lock.sh

.PHONY: clean
clean: ## remove .venv, caches and build folders (what you exported stays)
	rm -rf .venv .cache build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find mobilekit export benchmarks tests -name __pycache__ -type d -prune -exec rm -rf {} +
