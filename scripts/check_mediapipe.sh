#!/usr/bin/env bash
# Open exported files with MediaPipe itself and compare its ids, scores and embeddings with ours. MediaPipe gets an
# environment of its own, .cache/mediapipe-VERSION, because it needs another numpy; MEDIAPIPE=VERSION picks another one.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${MEDIAPIPE:-1.2.3}
environment=.cache/mediapipe-$version

if ! "$environment/bin/python" -c 'import mediapipe' >/dev/null 2>&1; then
  echo "setting up $environment"
  scripts/uv.sh venv --quiet --clear --python .venv/bin/python "$environment"
  scripts/uv.sh pip install --quiet --python "$environment/bin/python" "mediapipe==$version"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PYTHONPATH=. .venv/bin/python scripts/check_mediapipe.py prepare "$work"
# Its runtime logs every start to the error stream; what it says is shown only when it fails.
"$environment/bin/python" scripts/check_mediapipe.py compare "$work" 2>"$work/log" || {
  status=$?
  tail -n 20 "$work/log" >&2
  exit "$status"
}
