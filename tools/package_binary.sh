#!/usr/bin/env bash
# Packs a built program for a release: tools/package_binary.sh PROGRAM TARGET FOLDER
# writes FOLDER/sinew-TARGET.tar.gz (.zip for Windows) and its SHA-256 beside it. The archive holds the program, its manual page, the
# completions of shells, the licences and the README.
set -euo pipefail
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
target=$2
mkdir -p "$3"
folder=$(cd "$3" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."

name=sinew-$target
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir -p "$room/$name/completions"
cp "$program" LICENSE-APACHE LICENSE-MIT README.md "$room/$name/"
"$program" man > "$room/$name/sinew.1"
for shell in bash zsh fish powershell; do
  "$program" completions "$shell" > "$room/$name/completions/sinew.$shell"
done

# A program that cannot deform its own sample is not shipped.
"$program" run sample:ball --graph example:squash_stretch --frames 0-1 --quiet -o "$room/ball.glb"

cd "$room"
case $target in
  *windows*)
    archive=$name.zip
    7z a -bso0 "$folder/$archive" "$name"
    ;;
  *)
    archive=$name.tar.gz
    tar -czf "$folder/$archive" "$name"
    ;;
esac
cd "$folder"
if command -v sha256sum > /dev/null; then sha256sum "$archive"; else shasum -a 256 "$archive"; fi > "$archive.sha256"
echo "$archive"
