#!/usr/bin/env bash
# Times fields and hair, node by node, on the processor and on a graphics device: tools/bench/hair.sh FOLDER [PROGRAM].
#
# FOLDER holds Ratboy_body_skinned.glb, Ratboy_left_hand.tfxmesh, Ratboy_mohawk.tfx and Ratboy_mohawk.tfxbone.
set -euo pipefail
data=$(realpath "${1:?the folder with the rat}")
program=$(realpath "${2:-target/release/sinew}")
cd "$(dirname "${BASH_SOURCE[0]}")/hair"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -- *.json "$data"/Ratboy_body_skinned.glb "$data"/Ratboy_left_hand.tfxmesh "$data"/Ratboy_mohawk.tfx "$data"/Ratboy_mohawk.tfxbone "$work"
cd "$work"

time_graph() {
  printf '\n== %s\n' "$2"
  "$program" bench "$1" Ratboy_body_skinned.glb --frames 30 --threads 2
}

time_graph fields.json "three fields: a body and two hands"

# What the default costs: a ratio far above one is a default that nobody should get unasked.
printf '\n== automatic signs against pseudonormals\n'
for sign in automatic pseudonormals; do
  sed "s/\"node\": \"sdf\"/&, \"sign\": \"$sign\"/" fields.json >fields_$sign.json
  "$program" bench fields_$sign.json Ratboy_body_skinned.glb --frames 30 --threads 2 --log-format json >$sign.json
done
python3 - <<'END'
import json
both = [json.load(open(f"{sign}.json")) for sign in ("automatic", "pseudonormals")]
for where in ("cpu", "gpu"):
    if all(where in report for report in both):
        automatic, pseudonormals = [report[where]["us"] for report in both]
        print(f"{where}: {automatic:.0f} us against {pseudonormals:.0f} us, {automatic / pseudonormals:.2f} times")
END

for strands in 82000 64; do
  "$program" hair grow Ratboy_body_skinned.glb --count $strands --vertices 8 --length 0.02 --lean 40 -q -o fur.tfx
  time_graph fur.json "$strands strands of 8 vertices in them"
done
time_graph mohawk.json "a mohawk of 2,228 guides and 4,456 followers on the body"
