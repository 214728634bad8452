#!/usr/bin/env bash
# The short version of docs/training.md: a teacher, a six-layer student of it, and the student for phones.
# Two passes fewer than the tables' runs (python -m benchmarks.students), so that all of it takes some ten minutes.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=.venv/bin/python
out=${OUT:-students/short}
task="--data movie-sentiment --pooling mean --length 64 --force"

set -x
$python -m mobilekit train --model e5-small-enpt $task --epochs 1 --out "$out/teacher"
$python -m mobilekit distill --teacher "$out/teacher" --recipe pkd $task --epochs 2 --skip-alone --out "$out/student"
$python -m mobilekit export --model "$out/student" --scheme int8 --out "$out/phone" --force
