#!/usr/bin/env bash
# VRM avatars through every command that rewrites a file, judged by three-vrm and the Khronos validator. Part of e2e.sh, with its variables.
#
#   vrm.sh FOLDER [MALE.glb]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

SINEW=${SINEW:-target/release/sinew}
PYTHON=${PYTHON:-target/ci/venv/bin/python}
export NODE_PATH=${NODE_PATH:-$PWD/target/ci/npm/node_modules}
out=$1
mkdir -p "$out"

"$PYTHON" tools/e2e/make_vrm.py "$out" "${@:2}"
cat >"$out/linear.json" <<'JSON'
{ "sinew": "1.0", "inputs": { "body": { "type": "mesh" }, "pose": { "type": "pose" } }, "stack": [{ "node": "morph" }, { "node": "skin" }] }
JSON
cat >"$out/mush.json" <<'JSON'
{ "sinew": "1.0", "inputs": { "body": { "type": "mesh" }, "pose": { "type": "pose" } },
  "stack": [{ "node": "morph" }, { "node": "skin" }, { "node": "delta_mush", "iterations": 6 }] }
JSON

# Runs the program, shows what it says only where it fails.
sinew() {
  local log=$out/sinew.log
  "$SINEW" --force "$@" >"$log" 2>&1 || { cat "$log"; echo "FAILED: sinew $*"; return 1; }
}

# judge BASE AFTER EXPRESSION...: three-vrm shows the rewritten avatar as `sinew run --expression` does.
judge() {
  local base=$1 after=$2 frame=15 given=()
  shift 2
  for expression in "$@"; do given+=(--expression "$expression"); done
  node tools/e2e/validate_glb.cjs "$after" | grep -v INVALID_EXTENSION_NAME_FORMAT
  sinew run "$after" --graph "$out/linear.json" --frames $frame --fps 30 "${given[@]}" -o "$out/frame.pc2"
  node tools/e2e/vrm.mjs "$base" "$after" "$out/frame.pc2" 0.5 "$@"
}

for base in "$out"/*_[01].vrm; do
  name=${base%.vrm}
  judge "$base" "$base" happy=0.75 blink=1
  sinew convert "$base" -o "$name-convert.vrm"
  judge "$base" "$name-convert.vrm" happy=1
  sinew embed "$base" --graph "$out/mush.json" -o "$name-embed.vrm"
  judge "$base" "$name-embed.vrm" aa=1 blink=0.25
  # `happy` of 1.0 blocks `aa` and fades `blink`.
  judge "$base" "$name-embed.vrm" happy=0.5 aa=1 blink=1
  sinew bake skin "$base" --graph "$out/mush.json" --frames 0-20/4 -o "$name-skin.vrm"
  judge "$base" "$name-skin.vrm" happy=0.5
  sinew bake skin "$base" --graph "$out/mush.json" --frames 0-20/4 --helpers 2 --correctives 2 -o "$name-helped.vrm"
  judge "$base" "$name-helped.vrm" happy=0.5 blink=1
  sinew run "$base" --graph "$out/mush.json" --frames 15 --fps 30 -o "$name-sculpt.ply"
  sinew psd extract "$base" --graph "$out/linear.json" --sculpt "fix=$name-sculpt.ply@15" -o "$name-psd.vrm"
  judge "$base" "$name-psd.vrm" happy=0.5 aa=0.5
  sinew hair grow "$base" --count 20 --vertices 4 -o "$name-hair.vrm"
  judge "$base" "$name-hair.vrm" blink=0.5
  # A result of new frames is no avatar, and says so.
  sinew run "$base" --graph "$out/mush.json" --frames 0-10/5 -o "$name-frames.glb"
  grep -q vrm_left_out "$out/sinew.log" || grep -q "no VRM data" "$out/sinew.log"
done
judge "$out/avatar_1.vrm" "$out/avatar_1-convert.vrm" scowl=0.6
if judge "$out/avatar_1.vrm" "$out/avatar_1-convert.vrm" scowl=0.4 >/dev/null 2>&1; then
  echo "FAILED: an expression that is off moves nothing, which must be noticed"
  exit 1
fi
echo "avatars: all good"
