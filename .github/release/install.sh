#!/bin/sh
# Installs `spelunk` @VERSION@ into ~/.local/bin, or into $BIN_DIR. $BASE_URL overrides the URL of the archives.
set -eu

version=@VERSION@
base_url=${BASE_URL:-https://github.com/@REPOSITORY@/releases/download/$version}
bin_dir=${BIN_DIR:-$HOME/.local/bin}

fail() {
    printf 'error: %s\n' "$1" >&2
    exit 1
}

case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) target=x86_64-unknown-linux-musl sum=@SHA256_x86_64-unknown-linux-musl@ ;;
    Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl sum=@SHA256_aarch64-unknown-linux-musl@ ;;
    Darwin-arm64) target=aarch64-apple-darwin sum=@SHA256_aarch64-apple-darwin@ ;;
    *) fail "there is no program for $(uname -s) on $(uname -m): build it with cargo" ;;
esac

name=spelunk-$version-$target
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if command -v curl > /dev/null; then
    curl -fsSL "$base_url/$name.tar.gz" -o "$scratch/archive" || fail "could not download $base_url/$name.tar.gz"
else
    wget -q "$base_url/$name.tar.gz" -O "$scratch/archive" || fail "could not download $base_url/$name.tar.gz"
fi
if command -v sha256sum > /dev/null; then
    found=$(sha256sum < "$scratch/archive")
else
    found=$(shasum -a 256 < "$scratch/archive")
fi
[ "${found%% *}" = "$sum" ] || fail "the archive is not the one of this release: its checksum is ${found%% *}"
tar -xzf "$scratch/archive" -C "$scratch"
mkdir -p "$bin_dir"
mv "$scratch/$name/spelunk" "$bin_dir/spelunk"
printf 'installed %s\n' "$bin_dir/spelunk"
case ":$PATH:" in
    *":$bin_dir:"*) ;;
    *) printf 'add %s to your PATH\n' "$bin_dir" ;;
esac
