#!/usr/bin/env bash
# Run uv with the given arguments: the one on PATH, else one in a small private environment, .cache/uv.
set -euo pipefail

version=0.13.9
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
private=$root/.cache/uv/bin/uv

# An old uv lacks what setup.sh uses; the private one then serves.
if [[ "$(uv venv --help 2>/dev/null)" == *--clear* ]]; then exec uv "$@"; fi

if ! [[ "$("$private" --version 2>/dev/null)" == "uv $version"* ]]; then
  python=$("$root/scripts/find_python.sh")
  "$python" -c 'import ensurepip, venv' 2>/dev/null || {
    echo "error: $python has no venv module; install it (Debian, Ubuntu: apt-get install python3.11-venv)," \
      "or put uv on PATH, then run make setup again." >&2
    exit 2
  }
  "$python" -m venv --clear "$root/.cache/uv"
  "$root/.cache/uv/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$version" || {
    echo "error: uv $version could not be installed from the package index; check the network, or put uv on PATH." >&2
    exit 2
  }
fi
exec "$private" "$@"
