#!/usr/bin/env bash
# Build .venv: the extras in $EXTRAS at the versions of requirements.lock, and this checkout, editable.
# Does nothing when nothing changed. Without $EXTRAS an environment keeps the extras that it has.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
stamp=.venv/.mobilekit-setup

extras=${EXTRAS:-$(head -n 1 "$stamp" 2>/dev/null || true)}
extras=${extras:-all,dev}
# The folder belongs to the key because an environment holds its own path: a moved one must be built anew.
key=$(printf '%s\n' "$extras" "$PWD" && cat pyproject.toml requirements.lock scripts/setup.sh | cksum)

if [[ "$key" == "$(cat "$stamp" 2>/dev/null)" ]] && .venv/bin/python -c '' 2>/dev/null; then exit; fi

echo "setting up .venv [$extras]"
started=$SECONDS
python=$(scripts/find_python.sh)
# From nothing each time: no leftover of an older lock can hide a missing requirement. uv links files from
# its cache, so a second time takes seconds.
rm -rf .venv
scripts/uv.sh venv --quiet --python "$python" .venv
scripts/uv.sh pip install --quiet --python .venv/bin/python --constraint requirements.lock \
  --build-constraint requirements.lock --editable ".[$extras]"
printf '%s\n' "$key" >"$stamp"
echo "set up .venv in $((SECONDS - started)) s"
