#!/usr/bin/env bash
# Test the Android demo without an Android SDK: ktlint, then Maven, which compiles all of it and runs the tests of core,
# the parity with Python, real inference, and the app on Robolectric. What is compared with is made by Python first, into
# build/android-vectors, where it is not there yet. Exit code 2: this machine lacks what that takes.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
vectors=$PWD/build/android-vectors
refuse() { echo "error: make test-android: $*" >&2; exit 2; }

command -v mvn >/dev/null || refuse "needs Maven (mvn), which is not on PATH."
command -v java >/dev/null || refuse "needs a JDK of 17 or later; java is not on PATH."
java=$(java -XshowSettings:properties -version 2>&1 | sed -nE 's/^ *java\.specification\.version = ([0-9]+).*/\1/p')
((java >= 17)) || refuse "needs a JDK of 17 or later; java is $java."

export PYTHONPATH=$PWD OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1
python=.venv/bin/python
step() {
  local name=$1 started=$SECONDS
  shift
  "$@"
  echo "$name: $((SECONDS - started)) s"
}

classes=$(scripts/android_classes.sh)
aapt2=$(scripts/android_tools.sh)

step ktlint scripts/ktlint.sh
mkdir -p "$vectors"
step "real models" "$python" scripts/android_vectors.py "$vectors"
# What the rest is made by.
key=$(cat requirements.lock scripts/tokenizer_*.py tests/android/*_vectors.py mobilekit/{artifact,manifest_rules}.py \
  mobilekit/{decoding,text,text/data}/*.py export/check.py | cksum)
if [[ "$key" != "$(cat "$vectors/key" 2>/dev/null)" ]]; then
  step tokenizers "$python" scripts/tokenizer_vectors.py "$vectors"
  step answers "$python" tests/android/answer_vectors.py "$vectors" 200
  step checks "$python" tests/android/check_vectors.py "$vectors" 200
  step manifests "$python" tests/android/manifest_vectors.py "$vectors" 200
  printf '%s' "$key" >"$vectors/key"
fi

step Maven mvn -q -B -f android_demo/pom.xml verify -Dmobilekit.vectors="$vectors" -Daapt2="$aapt2" \
  -Dexecutorch.classes="$classes" -Dexecutorch.library="${classes%/*}/libexecutorch.so"
