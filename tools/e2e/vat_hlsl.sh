#!/usr/bin/env bash
# Compiles the HLSL players of bakes (Unity, Unreal) with glslang: `tools/e2e/vat_hlsl.sh FOLDER`, of the example player_bakes.
# Needs glslangValidator (Debian: `apt-get install glslang-tools`). Both shader compilers of Microsoft are not in Debian; glslang knows
# the same language but for details, and nothing of Unity and Unreal, of which a few lines stand in here.
set -euo pipefail

folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0

# compile NAME FILE: as a vertex shader.
compile() {
  if ! glslangValidator -D -V -S vert -e main --target-env vulkan1.1 -o "$work/out.spv" "$2" >"$work/log" 2>&1; then
    echo "FAILED $1"
    cat "$work/log"
    echo "$passed passed, 1 failed"
    exit 1
  fi
  echo "ok     $1"
  passed=$((passed + 1))
}

for bake in "$folder"/*/; do
  name=$(basename "$bake")
  player=$bake$name
  two=""; fine_argument=""; fine_graph=""
  if grep -q placeFine "$player.unity.hlsl"; then two="Texture2D<float4> placeFine;"; fine_argument="placeFine, "; fine_graph=yes; fi
  normals_fine=""; normal_fine_argument=""
  if grep -q normalsFine "$player.unity.hlsl"; then normals_fine="Texture2D<float4> normalsFine;"; normal_fine_argument="normalsFine, "; fi

  # Unity, by hand.
  cat >"$work/unity.hlsl" <<HLSL
#define VAT_WITHOUT_SHADER_GRAPH
$(cat "$player.unity.hlsl")
Texture2D<float4> place; $two Texture2D<float4> normals; $normals_fine
cbuffer Scene { float4x4 clipFromModel; float secs; }
struct Vertex { float4 position : SV_Position; float3 normal : NORMAL; };
Vertex main(uint vertex : SV_VertexID, float3 position : POSITION, float3 normal : NORMAL, float2 uv : TEXCOORD0)
{
    VatFrame at = VatFrameAt(0u, secs);
    Vertex o;
    o.position = mul(clipFromModel, float4(VatPosition(place, ${fine_argument}VatVertexByUv(uv), at, position), 1.0));
    o.normal = VatNormal(normals, ${normal_fine_argument}vertex, at, normal);
    return o;
}
HLSL
  compile "$name, Unity, hand-written shader" "$work/unity.hlsl"

  # Unity, shader graph: textures come as structs, which stand for themselves here.
  cat >"$work/graph.hlsl" <<HLSL
struct UnityTexture2D { Texture2D<float4> tex; };
$(cat "$player.unity.hlsl")
UnityTexture2D place; UnityTexture2D placeFine; UnityTexture2D normals; UnityTexture2D normalsFine;
float secs;
float4 main(uint vertex : SV_VertexID, float3 position : POSITION, float3 normal : NORMAL) : SV_Position
{
    float3 outPosition, outNormal;
    VatVertex_float(place, ${fine_graph:+placeFine, }normals, ${normal_fine_argument}(float)vertex, 0.0, secs, position, normal, outPosition, outNormal);
    return float4(outPosition + outNormal, 1.0);
}
HLSL
  compile "$name, Unity, custom function of a shader graph" "$work/graph.hlsl"

  # Unreal: what two custom nodes call.
  cat >"$work/unreal.hlsl" <<HLSL
$(cat "$player.unreal.ush")
Texture2D place; Texture2D placeFine; Texture2D normals; Texture2D normalsFine;
float secs;
float4 main(float3 position : POSITION, float2 uv : TEXCOORD0) : SV_Position
{
    float3 offset = VatOffset(place, ${fine_argument}uv, 0.0, secs, position);
    float3 normal = VatNormalByUv(normals, ${normal_fine_argument}uv, 0.0, secs, float3(0.0, 0.0, 1.0));
    return float4(position + offset + normal, 1.0);
}
HLSL
  compile "$name, Unreal, custom nodes" "$work/unreal.hlsl"
done
echo "$passed passed, 0 failed"
[ "$passed" -gt 0 ]
