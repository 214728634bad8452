#!/usr/bin/env bash
# Write requirements.lock from pyproject.toml: exact versions for every extra, Linux and macOS.
# Versions that are in the file and still allowed stay; delete the file to take the newest of all.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
new=$(mktemp)
trap 'rm -f "$new"' EXIT

if [[ -f requirements.lock ]]; then cp requirements.lock "$new"; fi
scripts/uv.sh pip compile --quiet --universal --all-extras --python-version 3.11 \
  --no-header --no-annotate --output-file "$new" pyproject.toml

# uv repeats on every line what pyproject says for the whole project; only what differs by platform stays.
{
  echo "# Exact versions of everything that an extra needs. Written by: make lock"
  sed -E -e "s/python_full_version < '3.12' and //" \
    -e "s/ ; \(sys_platform == 'darwin' or sys_platform == 'linux'\)\$//" "$new"
} >requirements.lock
