#!/usr/bin/env bash
# Print the path of a Python 3.11: $PYTHON if it is set, else the first one on PATH.
set -euo pipefail

is_311() { "$1" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' >/dev/null 2>&1; }

if [[ -n "${PYTHON:-}" ]]; then
  is_311 "$PYTHON" || { echo "error: PYTHON=$PYTHON is not a working Python 3.11; mobilekit needs 3.11." >&2; exit 2; }
  command -v "$PYTHON"
  exit
fi

# All of PATH, not only the first hit: a version manager's shim may be found first and refuse to run.
while read -r candidate; do
  if is_311 "$candidate"; then echo "$candidate"; exit; fi
done < <(type -aP python3.11 python3 python || true)

echo "error: no Python 3.11 on PATH (the engines' packages have no common version for another one); install it" \
  "(Debian, Ubuntu: apt-get install python3.11 python3.11-venv; macOS: brew install python@3.11)" \
  "or name it: make setup PYTHON=PATH_TO_PYTHON" >&2
exit 2
