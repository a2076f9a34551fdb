#!/usr/bin/env bash
# End to end: the built program on its own samples and, where they are there, on real characters in
# ../shared/data/characters; outputs judged by the Khronos validator, Blender and three.js.
#
#   SINEW      the program                        (target/release/sinew)
#   PYTHON     Python with numpy, bpy, jsonschema, openjd-cli (target/ci/venv/bin/python)
#   NODE_PATH  where gltf-validator and three are (target/ci/npm/node_modules)
#   E2E_OUT    folder for outputs                 (target/e2e)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

SINEW=${SINEW:-target/release/sinew}
PYTHON=${PYTHON:-target/ci/venv/bin/python}
export NODE_PATH=${NODE_PATH:-$PWD/target/ci/npm/node_modules}
out=${E2E_OUT:-target/e2e}
graph=example:skin_delta_mush
characters=../shared/data/characters
failures=()

fail() {
  echo "FAILED: $1"
  failures+=("$1")
}

# Runs a command, shows what it says only where it fails.
quietly() {
  local log
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then
    rm -f "$log"
  else
    cat "$log"
    rm -f "$log"
    return 1
  fi
}

compare() {
  local log status=0
  log=$("$PYTHON" tools/e2e/blender_compare.py "$@" 2>&1) || status=$?
  # Blender's own messages are of use only where something went wrong.
  if [ "$status" -eq 0 ]; then grep -E 'frame |worst ' <<<"$log" || true; else echo "$log"; fi
  return "$status"
}

rm -rf "$out"
mkdir -p "$out"

echo "-- the judges themselves"
"$PYTHON" tools/e2e/make_probe.py "$out"
node tools/e2e/validate_glb.cjs "$out/probe.glb" || fail "the validator accepts the probe"
compare "$out/probe.glb" "$out/probe.npz" || fail "Blender agrees with the probe"
if compare "$out/probe.glb" "$out/probe_wrong.npz" >/dev/null; then
  fail "the comparison notices a vertex that is 1 mm off"
fi

echo "-- graph documents against the schema"
if "$SINEW" schema >"$out/schema.json"; then
  "$PYTHON" - "$out/schema.json" examples/*.json crates/sinew-deform/src/*/*.json <<'PYTHON' || fail "examples fit the schema"
import json, re, sys
import jsonschema
schema, *documents = sys.argv[1:]
schema = json.load(open(schema))
kind = jsonschema.validators.validator_for(schema)
kind.check_schema(schema)
# `jsonschema.validate` would check the schema again for each document.
validator = kind(schema)
for path in documents:
    # Documents may have comments in lines of their own and commas behind the last element.
    text = re.sub(r"^\s*//.*$", "", open(path).read(), flags=re.MULTILINE)
    text = re.sub(r",(\s*[}\]])", r"\1", text)
    validator.validate(json.loads(text))
    print(f"{path}: fits the schema")
PYTHON
else
  fail "sinew schema"
fi
for document in examples/*.json crates/sinew-deform/src/*/*.json; do
  quietly "$SINEW" check "$document" || fail "sinew check $document"
done

echo "-- FBX files that Blender writes, against their GLB and Blender's own import"
fbx() {
  local log status=0
  log=$("$PYTHON" tools/e2e/fbx_compare.py "$SINEW" "$1" "$out/fbx" "${@:2}" 2>&1) || status=$?
  if [ "$status" -eq 0 ]; then grep -E '^worst ' <<<"$log"; else echo "$log"; fi
  return "$status"
}
if [ -d "$characters" ]; then
  # The keys of the third clip are between frames, where Blender interpolates in its own way.
  fbx "$characters/fox.glb" --fps 24 --clips 2 || fail "FBX: fox"
  fbx "$characters/kaykit_knight.glb" --clips 2 --variations 2 || fail "FBX: knight"
  fbx "$characters/mh_male_ge53.glb" --variations 3 || fail "FBX: male"
  fbx "$characters/../morph/mh_head_morph.glb" --variations 3 || fail "FBX: head"
else
  echo "skipped: $characters is not there"
fi

echo "-- what the docs tell readers to run"
SINEW="$SINEW" cargo xtask snippets || fail "cargo xtask snippets"

echo "-- sinew demo"
mkdir -p "$out/demo"
if quietly "$SINEW" demo -o "$out/demo"; then
  find "$out/demo" -type f | wc -l | xargs echo "files written:"
  find "$out/demo" -name '*.glb' -print0 | sort -z | xargs -0 node tools/e2e/validate_glb.cjs || fail "validator: files of the demo"
else
  fail "sinew demo"
fi

# One character: run the graph into a GLB and an NPZ, validate the first, compare both in Blender.
judge() {
  local file=$1 name clip=() frames=1-31/10
  name=$(basename "$file")
  name=${name%.*}
  if grep -qa bend_test "$file"; then
    clip=(--clip bend_test)
    # The peaks of the clip: elbows 21, knees 51, shoulders and wrist 81, spine 106.
    frames=6-106/5
    case $name in *214k*) frames=21-81/30 ;; esac
  fi
  quietly "$SINEW" run "$file" --graph "$graph" "${clip[@]}" --frames "$frames" --fps 30 \
    -o "$out/$name.glb" -o "$out/$name.npz" || { fail "sinew run $name"; return; }
  node tools/e2e/validate_glb.cjs "$out/$name.glb" || fail "validator: $name"
  compare "$out/$name.glb" "$out/$name.npz" || fail "Blender: $name"
  # The largest outputs have a few hundred megabytes.
  if [ -z "${E2E_KEEP:-}" ]; then rm -f "$out/$name.glb" "$out/$name.npz"; fi
}

echo "-- small GLB files: the validator, Blender and three.js"
arm=$out/arm
for compress in none quantize meshopt; do
  quietly "$SINEW" run sample:arm --frames 0-30/3 --compress "$compress" -o "$arm-$compress.glb" -o "$arm.npz" || fail "sinew run --compress $compress"
done
# The arm is 0.9 m long and moves as far: half a step along each axis is less than 0.04 mm.
node tools/e2e/three_compare.mjs "$arm-none.glb" "$arm-quantize.glb" 4e-5 || fail "three.js: quantised"
node tools/e2e/three_compare.mjs "$arm-none.glb" "$arm-meshopt.glb" 4e-5 "$arm-unpacked.glb" || fail "three.js: meshopt"
if node tools/e2e/three_compare.mjs "$arm-none.glb" "$arm-quantize.glb" 1e-8 >/dev/null; then fail "three.js notices rounding"; fi
for name in none quantize meshopt unpacked; do
  node tools/e2e/validate_glb.cjs "$arm-$name.glb" || fail "validator: arm-$name.glb"
done
# Blender's module reads no meshopt streams: it gets those that meshoptimizer's own decoder unpacked.
for name in quantize unpacked; do
  compare "$arm-$name.glb" "$arm.npz" --tolerance 4e-5 || fail "Blender: arm-$name.glb"
done

echo "-- real characters"
if [ -d "$characters" ]; then
  for file in "$characters"/*.gl*; do
    echo "$(basename "$file"):"
    judge "$file"
  done
  if [ -x target/ci/npm/node_modules/.bin/gltfpack ]; then
    echo "fox, meshopt-compressed and quantised by gltfpack:"
    mkdir -p "$out/packed"
    quietly target/ci/npm/node_modules/.bin/gltfpack -cc -kn -i "$characters/fox.glb" -o "$out/packed/fox_packed.glb"
    judge "$out/packed/fox_packed.glb"
  fi
else
  echo "skipped: $characters is not there"
fi

# A picture's silhouette against Blender's camera, and against one that is 2 percent off, which must be noticed.
silhouette() {
  local name=$1 frame=$2 eye=$3 target=$4 fov=$5 wrong
  local picture=$out/$name-silhouette.png
  quietly "$SINEW" render "$characters/$name.glb" -o "$picture" --frames "$frame" --eye="$eye" --target="$target" \
    --fov "$fov" --size 700x600 --background transparent --no-ground || { fail "sinew render $name"; return; }
  judge_silhouette() {
    "$PYTHON" tools/e2e/blender_silhouette.py "$characters/$name.glb" "$picture" --frame "$frame" \
      --eye="$eye" --target="$target" --fov "$1" 2>&1 | grep -E ' vertices, |Error'
  }
  wrong=$("$PYTHON" -c "print($fov * 1.02)")
  judge_silhouette "$fov" || fail "silhouette: $name"
  if judge_silhouette "$wrong" >/dev/null; then fail "a silhouette notices a wrong camera: $name"; fi
}

echo "-- pictures"
if [ -d "$characters" ]; then
  silhouette mh_male_ge53 51 0,1.0,4.5 0,0.85,0 30
  silhouette kaykit_knight 10 2,2,5 0,1.2,0 40
  silhouette fox 12 180,100,220 0,40,-10 35
else
  echo "skipped: $characters is not there"
fi

echo "-- hair: lines in Blender, simulated and skinned"
strands='"pose": {"type": "pose"}, "hair": {"type": "strands"}'
echo "{\"sinew\": \"1.0\", \"inputs\": {$strands}, \"outputs\": {\"hair\": \"sim\"},
  \"nodes\": {\"sim\": {\"node\": \"hair_sim\", \"strands\": \"hair\", \"pose\": \"pose\"}}}" >"$out/swing.json"
echo "{\"sinew\": \"1.0\", \"inputs\": {$strands}, \"outputs\": {\"hair\": \"skin\"},
  \"nodes\": {\"skin\": {\"node\": \"skin\", \"mesh\": \"hair\", \"pose\": \"pose\"}}}" >"$out/follow.json"
quietly "$SINEW" run sample:head --graph "$out/swing.json" --frames 0-30/3 -o "$out/swing.glb" -o "$out/swing.npz" || fail "hair swings"
node tools/e2e/validate_glb.cjs "$out/swing.glb" || fail "validator: swing.glb"
compare "$out/swing.glb" "$out/swing.npz" || fail "Blender: swinging hair"
if [ -d "$characters" ]; then
  quietly "$SINEW" hair grow "$characters/fox.glb" --count 400 --length 9 --vertices 8 -o "$out/furry.glb" || fail "fur grows"
  node tools/e2e/validate_glb.cjs "$out/furry.glb" || fail "validator: furry.glb"
  quietly "$SINEW" run "$out/furry.glb" --graph "$out/follow.json" --frames 0-20/5 -o "$out/furry.npz" || fail "fur follows"
  compare "$out/furry.glb" "$out/furry.npz" --mesh hair || fail "Blender: fur follows the fox"
else
  echo "skipped: $characters is not there"
fi

echo "-- correctives driven by poses, in one GLB, against Blender"
psd=../shared/data/psd
# Runs a character on a device and compares five poses with the golden files.
golden() {
  quietly "$SINEW" run "$1" "${@:2}" --clip psd_poses --frames 31-151/20 -o "$out/correctives.npz" &&
    "$PYTHON" tools/e2e/golden_correctives.py "$psd/golden" "$out/correctives.npz"
}
if [ -d "$psd" ]; then
  male=$psd/mh_male_psd.glb
  quietly "$SINEW" psd convert "$psd/mh_male_psd_samples.json" -o "$out/drivers.json" || fail "samples become a graph"
  quietly "$SINEW" embed "$male" --graph "$out/drivers.json" -o "$out/male_psd.glb" || fail "the graph goes into the GLB"
  node tools/e2e/validate_glb.cjs "$out/male_psd.glb" || fail "valid: male_psd.glb"
  golden "$out/male_psd.glb" || fail "correctives on the processor"
  golden "$out/male_psd.glb" --device gpu || fail "correctives on a graphics device"
  if golden "$male" --graph example:skin_linear >/dev/null; then fail "the golden files notice missing correctives"; fi
  quietly "$SINEW" psd check "$out/male_psd.glb" || fail "sinew psd check"
  for file in missing_rotation negative_radius duplicate_samples; do
    status=0
    "$SINEW" psd convert "../shared/data/malformed/psd_$file.json" -o "$out/none.json" 2>"$out/malformed.log" || status=$?
    if [ "$status" -ne 3 ] || [ -e "$out/none.json" ]; then cat "$out/malformed.log"; fail "psd_$file.json ends with $status"; fi
  done
else
  echo "skipped: $psd is not there"
fi

echo "-- skins baked from a graph, in Blender's own linear skinning"
# Bakes a clip, validates the file, holds Blender's skinning against the claims; claims of less and a file whose weights were altered by a few parts in a
# hundred must be noticed.
bake_skin() {
  local name=$1 character=$2 clip=$3
  shift 3
  quietly "$SINEW" bake skin "$character" --graph "$graph" --clip "$clip" "$@" -o "$out/$name.glb" --report "$out/$name-report" ||
    { fail "sinew bake skin $name"; return; }
  quietly "$SINEW" run "$character" --graph "$graph" --clip "$clip" -o "$out/$name.npz" || fail "sinew run $name"
  node tools/e2e/validate_glb.cjs "$out/$name.glb" || fail "validator: $name.glb"
  quietly "$PYTHON" tools/e2e/skin_tamper.py "$out/$name.glb" "$out/$name-altered.glb" "$altered" || fail "skin_tamper.py $name"
  "$PYTHON" tools/e2e/skin_compare.py "$out/$name.glb" "$out/$name-altered.glb" "$out/$name.npz" "$out/$name-report/report.json" --clip "$clip" 2>&1 |
    grep -E 'clip |Error|Blender has' || fail "Blender's skinning: $name"
  if "$SINEW" bake skin "$character" --graph "$graph" --clip "$clip" --verify "$out/$name-altered.glb" --report "$out/$name-report" >/dev/null 2>&1; then
    fail "altered weights are noticed by --verify: $name"
  fi
  quietly "$SINEW" bake skin "$character" --graph "$graph" --clip "$clip" --verify "$out/$name.glb" --report "$out/$name-report" || fail "sinew bake skin --verify: $name"
  if [ -z "${E2E_KEEP:-}" ]; then rm -f "$out/$name.npz"; fi
}
altered=0.03
bake_skin skin_arm sample:arm bend --helpers 3 --correctives 4
if [ -d "$characters" ]; then
  bake_skin skin_male "$characters/mh_male_ge53.glb" bend_test --helpers 8 --correctives 8
  if [ -x target/ci/npm/node_modules/.bin/gltfpack ]; then
    quietly target/ci/npm/node_modules/.bin/gltfpack -cc -kn -i "$characters/fox.glb" -o "$out/fox_small.glb"
    # So far off that small changes of weights are lost in it.
    altered=0.15
    bake_skin skin_fox "$out/fox_small.glb" Walk
  fi
else
  echo "skipped: $characters is not there"
fi

echo "-- point caches: Blender's mesh cache modifier plays the same files"
"$PYTHON" tools/e2e/point_cache.py "$SINEW" "$out/point_cache" 2>&1 | grep -E 'worst|Error' || fail "point caches"

echo "-- vertex animation textures: read by another program, killed and resumed"
quietly "$SINEW" run sample:creature --graph "$graph" --frames 0-20 -o "$out/creature.ply" -o "$out/creature.npz"
bake() {
  quietly "$SINEW" bake vat "$out/creature_####.ply" --mode remesh -o "$out/$1" --work "$out/$1.work"
}
rm -rf "$out"/vat_whole* "$out"/vat_killed*
bake vat_whole || fail "sinew bake vat"
"$PYTHON" tools/e2e/vat_read.py "$out/vat_whole/creature.vat.json" "$out/creature.npz" || fail "the bake is not the sequence"
node tools/e2e/validate_glb.cjs "$out/vat_whole/creature.glb" || fail "validator: carrier"
# Kills a bake as soon as a file of a step is there. On a busy machine the bake may end first: then again.
kill_bake() {
  for _ in 1 2 3 4 5; do
    "$SINEW" bake vat "$out/creature_####.ply" --mode remesh -q -o "$out/vat_killed" --work "$out/vat_killed.work" &
    baking=$!
    until compgen -G "$1" >/dev/null || ! kill -0 $baking 2>/dev/null; do sleep 0.01; done
    kill -KILL $baking 2>/dev/null || true
    status=0
    wait $baking 2>/dev/null || status=$?
    if [ "$status" = 137 ]; then return 0; fi
    if [ "$status" != 0 ]; then return 1; fi
    rm -rf "$out/vat_killed" "$out/vat_killed.work"
  done
  return 1
}
# The last file is the texture of positions, half written.
for file in "$out"/vat_killed.work/{frames/000007.frame,frames/000007.match,slots/000007.slots,texels/000007.texels} \
  "$out/.sinew-*.tmp/.sinew-*.tmp"; do
  kill_bake "$file" || fail "a bake can be killed at $file"
  if [ -e "$out/vat_killed" ]; then fail "a bake that is killed at $file shows nothing"; fi
done
compgen -G "$out/.sinew-*" >/dev/null || fail "a killed bake leaves its temporary folder"
bake vat_killed || fail "a bake that was killed goes on"
if compgen -G "$out/.sinew-*" >/dev/null; then fail "the next bake takes away what a killed one left"; fi
diff -r "$out/vat_whole" "$out/vat_killed" || fail "a bake that was killed and resumed is another one"

echo "-- vertex animation textures for other engines and tools"
"$PYTHON" tools/e2e/make_twist.py "$out/twist" || fail "a sequence that is not its own mirror image"
twist="$out/twist/twist_####.obj"
for engine in unity unreal blender; do
  for mode in soft remesh; do
    bake=$out/vat_$engine-$mode
    quietly "$SINEW" bake vat "$twist" --for "$engine" --mode "$mode" -o "$bake" || fail "sinew bake vat --for $engine"
    quietly "$SINEW" vat verify "$bake" "$twist" || fail "sinew vat verify of a bake for $engine"
    "$PYTHON" tools/e2e/vat_space.py "$bake/twist.vat.json" "$out/twist/twist.npz" "$engine" || fail "$engine shows the sequence ($mode)"
  done
done
"$PYTHON" tools/e2e/vat_pieces.py make "$out/shards" || fail "pieces that are not their own mirror images"
for engine in unity unreal blender; do
  bake=$out/vat_$engine-rigid
  quietly "$SINEW" bake vat "$out/shards/shards_####.obj" --for "$engine" --mode rigid -o "$bake" || fail "sinew bake vat --mode rigid --for $engine"
  quietly "$SINEW" vat verify "$bake" "$out/shards/shards_####.obj" || fail "sinew vat verify of pieces for $engine"
  "$PYTHON" tools/e2e/vat_pieces.py check "$bake/shards.vat.json" "$out/shards/shards.npz" "$engine" || fail "$engine shows the pieces"
done
for kind in plain packed exr; do
  case $kind in
    plain) options=() ;;
    packed) options=(--packed-normals) ;;
    exr) options=(--texture offset:float --texture normal:half) ;;
  esac
  bake=$out/vat_openvat-$kind
  quietly "$SINEW" bake vat "$twist" --convention openvat "${options[@]}" -o "$bake" || fail "sinew bake vat --convention openvat ($kind)"
  node tools/e2e/validate_glb.cjs "$bake/twist.glb" || fail "validator: OpenVAT's mesh"
  "$PYTHON" tools/e2e/openvat_read.py "$bake" "$out/twist/twist.npz" || fail "the bake by OpenVAT's rules ($kind)"
done

# Plays a bake in SideFX' files by the published rules; the names behind it are rules to break, which must be noticed.
sidefx() {
  local mode=$1 engine=$2 bake=$3
  shift 3
  "$PYTHON" tools/e2e/sidefx_read.py "$bake" "${frames[@]}" --mode "$mode" --for "$engine" "${@/#/--wrong=}" || fail "the bake by SideFX' rules ($mode, $engine)"
}
# A large mesh in the axes of glTF, of which a few frames do, a small one in those of engines.
mkdir -p "$out/few"
cp "$out"/creature_000[0-4].ply "$out/few"
for engine in gltf unity unreal blender; do
  case $engine in
    gltf) sequence="$out/few/creature_####.ply" frames=("$out"/few/creature_*.ply) ;;
    *) sequence=$twist frames=("$out"/twist/twist_*.obj) ;;
  esac
  for kind in halves codes; do
    case $kind in
      halves) options=() ;;
      codes) options=(--texture position:two_unorm8 --texture normal:unorm8 --max-side 1024) ;;
    esac
    bake=$out/vat_sidefx-$engine-$kind
    quietly "$SINEW" bake vat "$sequence" --convention sidefx --mode remesh --for "$engine" "${options[@]}" -o "$bake" || fail "sinew bake vat --convention sidefx ($kind)"
    sidefx fluid "$engine" "$bake" upside swapped
  done
done
frames=("$out"/shards/shards_*.obj)
bake=$out/vat_sidefx-rigid
quietly "$SINEW" bake vat "$out/shards/shards_####.obj" --convention sidefx --mode rigid --for unity -o "$bake" || fail "sinew bake vat --convention sidefx --mode rigid"
sidefx rigid unity "$bake" upside index pivot spin
node tools/e2e/validate_glb.cjs "$bake/shards_mesh.glb" || fail "validator: SideFX' mesh of pieces"
if [ -d ../shared/data/sequences/particles ]; then
  frames=(../shared/data/sequences/particles/*.ply)
  for engine in gltf unity unreal; do
    bake=$out/vat_sidefx-particles-$engine
    quietly "$SINEW" bake vat ../shared/data/sequences/particles --convention sidefx --for "$engine" -o "$bake" || fail "sinew bake vat --convention sidefx of particles"
    sidefx sprite "$engine" "$bake" upside width
  done
else
  echo "skipped: particles are not there"
fi
for sequence in liquid_splash boolean_cut; do
  if [ -d "../shared/data/sequences/$sequence" ]; then
    frames=(../shared/data/sequences/"$sequence"/*.ply)
    bake=$out/vat_sidefx-$sequence
    quietly "$SINEW" bake vat "../shared/data/sequences/$sequence" --convention sidefx --for unity -o "$bake" || fail "sinew bake vat --convention sidefx of $sequence"
    sidefx fluid unity "$bake"
  else
    echo "skipped: $sequence is not there"
  fi
done

echo "-- render farms: every job template, in chunks, killed and run again"
"$PYTHON" tools/e2e/farm.py "$SINEW" "$out/farm" || fail "render farms"

echo "-- the archive of a release"
rm -rf "$out/package"
if tools/package_binary.sh "$SINEW" x86_64-unknown-linux-gnu "$out/package"; then
  (
    cd "$out/package"
    sha256sum --quiet --check sinew-x86_64-unknown-linux-gnu.tar.gz.sha256
    tar -xzf sinew-x86_64-unknown-linux-gnu.tar.gz
    sinew-x86_64-unknown-linux-gnu/sinew --version
  ) || fail "the archive does not hold the program"
else
  fail "tools/package_binary.sh"
fi
rm -rf "$out/package"

echo "-- everyday files, against the right answer of each"
cases=../shared/cases
if [ -d "$cases" ]; then
  "$PYTHON" tools/e2e/cases.py "$SINEW" "$cases" || fail "everyday files on the processor"
  "$PYTHON" tools/e2e/cases.py "$SINEW" "$cases" --gpu || fail "everyday files on a graphics device"
else
  echo "skipped: $cases is not there"
fi

echo "-- characters as they are: the validator and Blender's own morphs and skinning"
echo '{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}}, "stack": [{"node": "morph"}, {"node": "skin"}]}' >"$out/linear.json"
for name in arm creature ball head; do
  quietly "$SINEW" convert "sample:$name" -o "$out/as-it-is-$name.glb" || fail "sinew convert sample:$name"
  node tools/e2e/validate_glb.cjs "$out/as-it-is-$name.glb" || fail "validator: as-it-is-$name.glb"
  # Blender mixes up the attributes of the head, whose widths differ.
  [ "$name" = head ] && continue
  quietly "$SINEW" run "sample:$name" --graph "$out/linear.json" --frames 0-40/10 -o "$out/as-it-is.npz" || fail "sinew run sample:$name"
  compare "$out/as-it-is-$name.glb" "$out/as-it-is.npz" || fail "Blender: as-it-is-$name.glb"
done

echo "-- VRM avatars in three-vrm"
male=()
if [ -d "$characters" ]; then male=("$characters/mh_male_ge53.glb"); else echo "skipped: $characters is not there"; fi
export SINEW PYTHON
quietly tools/e2e/vrm.sh "$out/vrm" "${male[@]}" || fail "VRM avatars"

echo "-- malformed files: an error or a repair, within 1 s and 1 GiB"
malformed=../shared/data/malformed
if [ -d "$malformed" ]; then
  count=0
  for file in "$malformed"/*.glb "$malformed"/*.gltf "$malformed"/*.obj "$malformed"/*.ply; do
    [ -f "$file" ] || continue
    status=0
    (
      ulimit -v 1048576
      timeout 1 "$SINEW" inspect "$file" >"$out/malformed.log" 2>&1
    ) || status=$?
    count=$((count + 1))
    case $status in
      0 | 3) ;;
      *) cat "$out/malformed.log"; fail "malformed: $(basename "$file") ends with $status" ;;
    esac
  done
  echo "$count files"
else
  echo "skipped: $malformed is not there"
fi

if [ "${#failures[@]}" -gt 0 ]; then
  echo "${#failures[@]} failures:"
  printf '  %s\n' "${failures[@]}"
  exit 1
fi
echo "end to end: all good"
