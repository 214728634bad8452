#!/usr/bin/env bash
# Print the path of aapt2, Android's compiler of resources: the one on PATH, else Debian's, which is fetched into the
# cache with the libraries that it loads. Does nothing more when it is there. Needs no root and leaves the system's
# packages alone. Exit code 2: it cannot be had on this machine.
set -euo pipefail

if command -v aapt2; then exit; fi

cache=${MOBILEKIT_CACHE:-${XDG_CACHE_HOME:-${HOME:-~}/.cache}/mobilekit}
folder=$cache/android-tools
# Those that aapt2 loads; libc, libgcc, libstdc++ and zlib are everywhere.
packages=(aapt android-libandroidfw android-libbacktrace android-libbase android-libcutils android-liblog
  android-libutils android-libziparchive libexpat1 libpng16-16 libprotobuf-lite32 p7zip-full)

refuse() { echo "error: $*" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

if [[ ! -x $folder/aapt2 ]]; then
  [[ "$(uname -sm)" == "Linux x86_64" ]] || refuse "aapt2 is not on PATH; install it: it comes with Android's build tools."
  require_debian "aapt2 is not on PATH; fetching Debian's "
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/android-tools-XXXXXX")
  trap 'rm -rf "$new"' EXIT
  state=$new/apt
  fetch_debian "aapt2: " "$state" bookworm amd64 "${packages[@]}"
  for package in "$state"/packages/*.deb; do dpkg-deb --extract "$package" "$new/root"; done
  for package in "$state"/packages/*.deb; do dpkg-deb --show "$package"; done >"$new/versions.txt"
  rm -rf "$state" "$new/root/usr/share"
  cat >"$new/aapt2" <<EOF
#!/bin/sh
here=\$(dirname "\$0")/root
lib=\$here/usr/lib
export LD_LIBRARY_PATH="\$lib/x86_64-linux-gnu/android:\$lib/x86_64-linux-gnu:\$here/lib/x86_64-linux-gnu:\$lib/p7zip"
exec "\$here/usr/lib/android-sdk/build-tools/debian/aapt2" "\$@"
EOF
  chmod 755 "$new/aapt2" "$new"
  "$new/aapt2" version >&2 || refuse "Debian's aapt2 does not run on this machine; see above."
  rm -rf "$folder"
  mv -T "$new" "$folder"
  trap - EXIT
fi
echo "$folder/aapt2"
