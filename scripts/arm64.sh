#!/usr/bin/env bash
# Fetch what `mobilekit check --arm64` runs on, into one folder of the cache: QEMU's user-mode emulator, an arm64
# Python with the libraries that it loads, and the arm64 wheels of scripts/arm64.txt; and build scripts/arm64.cpp for
# it. Does nothing when nothing changed. Needs no root and leaves the system's packages alone. Exit code 2: it cannot be
# had on this machine.
#
# Wheels are pinned with their hashes. Debian's packages cannot be (scripts/debian.sh): `versions.txt` in the folder says
# which they were.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
cache=${MOBILEKIT_CACHE:-${XDG_CACHE_HOME:-${HOME:-~}/.cache}/mobilekit}
folder=$cache/arm64
# Of its own suite: from 8.2 on QEMU shows an emulated /proc/cpuinfo, by which LiteRT picks its kernels.
emulator=(trixie amd64 qemu-user)
# The Python that the wheels are for, and what it and they load.
python=(bookworm arm64 python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libstdc++6
  zlib1g libexpat1 libffi8 libstdc++-12-dev)
# A C++ compiler for any processor, and a wheel like others.
zig="ziglang==0.17.0"

refuse() { echo "error: $*" >&2; exit 2; }
. scripts/debian.sh

key=$(cat scripts/arm64.{sh,txt,cpp} scripts/debian.sh | cksum)
if [[ "$key" == "$(cat "$folder/key" 2>/dev/null)" ]]; then exit; fi

[[ "$(uname -sm)" == "Linux x86_64" ]] || refuse "make arm64: the emulator is for Linux on x86-64; this is $(uname -sm)."
require_debian "make arm64: "

echo "fetching what arm64 files run on"
started=$SECONDS
mkdir -p "$cache"
new=$(mktemp -d "$cache/arm64-XXXXXX")
trap 'rm -rf "$new"' EXIT

fetch_debian "make arm64: " "$new/apt-trixie" "${emulator[@]}"
fetch_debian "make arm64: " "$new/apt-bookworm" "${python[@]}"
dpkg-deb --fsys-tarfile "$new"/apt-trixie/packages/*.deb | tar -x -C "$new" --strip-components 3 ./usr/bin/qemu-aarch64
for package in "$new"/apt-bookworm/packages/*.deb; do dpkg-deb --extract "$package" "$new/root"; done
rm -rf "$new"/root/usr/share

install() {
  scripts/uv.sh pip install --quiet --python "$(scripts/find_python.sh)" --no-deps --only-binary :all: "$@" ||
    refuse "make arm64: the wheels of scripts/arm64.txt, or $zig, could not be installed; see above."
}

install --target "$new/packages" --python-platform aarch64-manylinux_2_28 --require-hashes -r scripts/arm64.txt
install --target "$new/zig" "$zig"

# ExecuTorch's libraries speak GNU's C++ library, so its headers stand before zig's own.
headers=$new/packages/executorch/include
libraries=$new/packages/executorch/lib
ZIG_GLOBAL_CACHE_DIR=$new/zig ZIG_LOCAL_CACHE_DIR=$new/zig "$new/zig/ziglang/zig" c++ -target aarch64-linux-gnu.2.36 \
  -std=c++17 -O1 -shared -fPIC -nostdinc++ -nostdlib++ \
  -I"$new/root/usr/include/c++/12" -I"$new/root/usr/include/aarch64-linux-gnu/c++/12" -I"$headers" \
  -I"$headers/executorch/runtime/core/portable_type/c10" -DC10_USING_CUSTOM_GENERATED_MACROS scripts/arm64.cpp \
  -Wl,--no-as-needed -Wl,-rpath,'$ORIGIN' -L"$libraries" -lexecutorch -lexecutorch_threadpool \
  -lexecutorch_kernels_optimized -lexecutorch_backend_xnnpack "$new/root/usr/lib/aarch64-linux-gnu/libstdc++.so.6" \
  -o "$libraries/libmobilekit_pte.so"
find "$new/packages/executorch" -mindepth 1 -maxdepth 1 ! -name lib -exec rm -rf {} +
rm -rf "$new/zig" "$new/root/usr/include" "$new/root/usr/lib/gcc"

{
  for package in "$new"/apt-*/packages/*.deb; do dpkg-deb --show "$package"; done
  sed -nE 's/^([a-z0-9-]+)==([^ ]+).*/\1\t\2/p' scripts/arm64.txt
} >"$new/versions.txt"
rm -rf "$new"/apt-*
printf '%s\n' "$key" >"$new/key"
# mktemp's folders are for their owner alone; other users of a shared cache read this one.
chmod 755 "$new"
rm -rf "$folder"
mv -T "$new" "$folder"
echo "fetched in $((SECONDS - started)) s: $(du -sh "$folder" | cut -f 1)"
