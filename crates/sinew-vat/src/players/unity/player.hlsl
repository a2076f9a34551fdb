// {{NAME}}: player of a vertex animation texture, for Unity. Made with the bake; change what you like.
//
// Mesh: {{CARRIER}}, vertices in the order of the file; {{VERTICES}} texels a frame. In its import settings: mesh compression off,
// "Optimize Mesh: Nothing", "Weld Vertices" off, normals "Import".
// Textures, {{SIZES}}, {{FRAMES}} frames; in their import settings: "sRGB" off, "Non-Power of 2: None",
// "Generate Mip Maps" off, filter "Point", wrap "Clamp", "Max Size" at least the larger side, compression "None":
{{*TEXTURE}}//   {{FILE}}: {{HOLDS}}; {{FORMAT}}
{{?HAS_16_BIT_PNG}}// 16 bits a channel stay so only with the format "RGB 48 bit" or "RGBA 64 bit" chosen by hand; floats need none of that.
// Values in the textures are {{SPACE}}; Unity's are {{ENGINE_SPACE}}.
{{?FITS_SPACE}}{{?HAS_OBJ}}// The mesh is in the space of glTF; importers of GLB (glTFast, UnityGLTF), and Unity's own of OBJ ({{NAME}}.obj is the same mesh), mirror it
{{?FITS_SPACE}}{{?HAS_OBJ}}// in x, after which it fits the textures. Nothing is to be converted. Vertices of the OBJ may be numbered anew: find them by
{{?FITS_SPACE}}{{?HAS_OBJ}}// VatVertexByUv (UV channel 0 of the OBJ, {{UV_SET}} of the GLB).
{{?FITS_SPACE}}{{!HAS_OBJ}}// The mesh is in the space of glTF; importers of GLB (glTFast, UnityGLTF) mirror it in x, after which it fits the textures. Nothing is to be
{{?FITS_SPACE}}{{!HAS_OBJ}}// converted.
{{!FITS_SPACE}}// WARNING: these two differ: with this bake all that moves is mirrored.
{{!FITS_SPACE}}// Bake again for Unity: `sinew bake vat ... --for unity`.
{{?HAS_ATTRIBUTES}}// Colours and all else are data: linear, textures with "sRGB" off. VatVertex has an output for each; a Custom Interpolator takes it to the fragments.
// Unity holds rows of a texture from the bottom; VatTexel turns them.
{{?IS_REMESH}}// Renderers cull by the box of the mesh, which is that of all frames; keep it where you make meshes by script.
{{!IS_REMESH}}// Renderers cull by the box of the mesh: set Renderer.localBounds to that of all frames, ({{BOUNDS_LOW}}) to ({{BOUNDS_HIGH}}).
{{?CAN_BLEND}}{{!HAS_ENDS}}// Frames may be blended: vertices are the same points in all frames of a clip.
{{?HAS_ENDS}}// Each frame is followed by its end, where its triangles are when the next frame begins: blends go there, and nothing parts.
{{!CAN_BLEND}}// Frames are not blended: a vertex is another point in each frame.
//
// Shader graph: a Custom Function node, type File, this file, name `VatVertex`; inputs in the order of VatVertex_float below, the vertex
// number from a Vertex ID node, the outputs into Position and Normal of the vertex stage. One bake a shader.
// Hand-written shader (SV_VertexID): VatPosition and VatNormal. Define VAT_WITHOUT_SHADER_GRAPH where UnityTexture2D is unknown.
// Each instance starts at its own moment: add an instanced property to the seconds.
//
// How players of this kind were checked: compiled by glslang, run as a vertex shader by WebGL 2, numbers as those of the baker. Not run:
// Unity itself.

#ifndef VAT_PLAYER_INCLUDED
#define VAT_PLAYER_INCLUDED

static const uint VAT_COLUMNS = {{COLUMNS}}u;
static const uint VAT_ACROSS = {{ACROSS}}u;
static const uint VAT_FRAME_ROWS = {{FRAME_ROWS}}u;
static const uint VAT_LINE_ROWS = {{LINE_ROWS}}u;
static const uint2 VAT_SIZE = uint2({{WIDTH}}u, {{HEIGHT}}u);
static const uint VAT_SEAMLESS_LOOP = 1u;
static const uint VAT_CLAMP = 2u;

struct VatClip
{
    uint first;
    uint count;
    float framesPerSecond;
    uint atEnd; // 0 loop, 1 seamless loop, 2 clamp
};

// Two frames of the bake and how much of the second is seen.
struct VatFrame
{
    uint frame;
    uint next;
    float weight;
};

VatClip VatMakeClip(uint first, uint count, float framesPerSecond, uint atEnd)
{
    VatClip c;
    c.first = first;
    c.count = count;
    c.framesPerSecond = framesPerSecond;
    c.atEnd = atEnd;
    return c;
}

VatClip VatGetClip(uint index)
{
{{*CLIP}}    if (index == {{CLIP_INDEX}}u) return VatMakeClip({{CLIP_FIRST}}u, {{CLIP_FRAMES}}u, {{CLIP_RATE}}, {{CLIP_AT_END}}u); // {{CLIP_NAME}}
    return VatMakeClip(0u, 1u, 1.0, VAT_CLAMP);
}

VatFrame VatMakeFrame(uint frame, uint next, float weight)
{
    VatFrame at;
    at.frame = frame;
    at.next = next;
    at.weight = weight;
    return at;
}

// Counted in frames from the start of a clip: 2.25 is a quarter of the way from frame 2 to frame 3.
VatFrame VatFrameOf(uint clip, float frames)
{
    VatClip c = VatGetClip(clip);
    float count = (float)c.count;
    float within = clamp(frames, 0.0, count - 1.0);
    if (c.atEnd != VAT_CLAMP)
    {
        within = max(frames - floor(frames / count) * count, 0.0);
    }
    // What is a little below a whole pass rounds up to it.
    uint index = min((uint)within, c.count - 1u);
    uint shown = (c.first + index) * {{FRAME_STEP}}u;
{{!CAN_BLEND}}    return VatMakeFrame(shown, shown, 0.0);
{{?CAN_BLEND}}    float weight = clamp(within - (float)index, 0.0, 1.0);
{{?CAN_BLEND}}    if (index + 1u < c.count)
{{?CAN_BLEND}}    {
{{?CAN_BLEND}}        return VatMakeFrame(shown, shown + 1u, weight);
{{?CAN_BLEND}}    }
{{?CAN_BLEND}}    if (c.atEnd == VAT_SEAMLESS_LOOP)
{{?CAN_BLEND}}    {
{{?CAN_BLEND}}{{!HAS_ENDS}}        return VatMakeFrame(shown, c.first, weight);
{{?CAN_BLEND}}{{?HAS_ENDS}}        return VatMakeFrame(shown, shown + 1u, weight);
{{?CAN_BLEND}}    }
{{?CAN_BLEND}}    return VatMakeFrame(shown, shown, 0.0);
}

// What is seen `secs` seconds from the start of a clip.
VatFrame VatFrameAt(uint clip, float secs)
{
    return VatFrameOf(clip, secs * VatGetClip(clip).framesPerSecond);
}

// Column and row of a vertex in a frame, rows from the bottom.
int3 VatTexel(uint vertex, uint frame)
{
    uint x = (frame % VAT_ACROSS) * VAT_COLUMNS + vertex % VAT_COLUMNS;
    uint y = (frame / VAT_ACROSS) * VAT_FRAME_ROWS + (vertex / VAT_COLUMNS) * VAT_LINE_ROWS;
    return int3(x, VAT_SIZE.y - 1u - y, 0);
}

// The number of a vertex from the carrier's UV, v up as Unity has it: for shaders without SV_VertexID.
uint VatVertexByUv(float2 uv)
{
    uint2 texel = uint2(floor(float2(uv.x, 1.0 - uv.y) * float2(VAT_SIZE)));
    return (texel.y / VAT_LINE_ROWS) * VAT_COLUMNS + texel.x;
}

{{!IN_TWO}}float3 VatPlaceIn(Texture2D<float4> place, int3 texel)
{{!IN_TWO}}{
{{!IN_TWO}}    float3 stored = place.Load(texel).xyz;
{{?IN_TWO}}float3 VatPlaceIn(Texture2D<float4> place, Texture2D<float4> placeFine, int3 texel)
{{?IN_TWO}}{
{{?IN_TWO}}    float3 stored = place.Load(texel).xyz + 0.01 * placeFine.Load(texel).xyz;
    return stored * float3({{PLACE_SCALE}}) + float3({{PLACE_OFFSET}});
}

{{>ATTRIBUTES}}
{{#IS_VERTICES}}
// Position of a vertex in the space of the mesh; `carrier` is the position that the mesh has there.
{{!IN_TWO}}float3 VatPosition({{LOOKUP_PARAMETER}}Texture2D<float4> place, uint vertex, VatFrame at, float3 carrier)
{{?IN_TWO}}float3 VatPosition({{LOOKUP_PARAMETER}}Texture2D<float4> place, Texture2D<float4> placeFine, uint vertex, VatFrame at, float3 carrier)
{
{{!IN_TWO}}    float3 result = VatPlaceIn(place, {{TEXEL_IN_HLSL}}vertex, at.frame));
{{?IN_TWO}}    float3 result = VatPlaceIn(place, placeFine, {{TEXEL_IN_HLSL}}vertex, at.frame));
{{?CAN_BLEND}}    if (at.weight > 0.0)
{{?CAN_BLEND}}    {
{{?CAN_BLEND}}{{!IN_TWO}}        result += (VatPlaceIn(place, {{TEXEL_IN_HLSL}}vertex, at.next)) - result) * at.weight;
{{?CAN_BLEND}}{{?IN_TWO}}        result += (VatPlaceIn(place, placeFine, {{TEXEL_IN_HLSL}}vertex, at.next)) - result) * at.weight;
{{?CAN_BLEND}}    }
{{?IS_OFFSET}}    return carrier + result;
{{!IS_OFFSET}}    return result;
}
{{?HAS_NORMAL}}
{{?HAS_NORMAL}}{{!NORMAL_IN_TWO}}float3 VatNormalIn(Texture2D<float4> normals, int3 texel)
{{?HAS_NORMAL}}{{!NORMAL_IN_TWO}}{
{{?HAS_NORMAL}}{{!NORMAL_IN_TWO}}    float3 stored = normals.Load(texel).xyz;
{{?NORMAL_IN_TWO}}float3 VatNormalIn(Texture2D<float4> normals, Texture2D<float4> normalsFine, int3 texel)
{{?NORMAL_IN_TWO}}{
{{?NORMAL_IN_TWO}}    float3 stored = normals.Load(texel).xyz + 0.01 * normalsFine.Load(texel).xyz;
{{?HAS_NORMAL}}    return stored * float3({{NORMAL_SCALE}}) + float3({{NORMAL_OFFSET}});
{{?HAS_NORMAL}}}
{{?HAS_NORMAL}}
{{?HAS_NORMAL}}// Unit normal of a vertex; `carrier` is the normal that the mesh has there.
{{?HAS_NORMAL}}{{!NORMAL_IN_TWO}}float3 VatNormal({{LOOKUP_PARAMETER}}Texture2D<float4> normals, uint vertex, VatFrame at, float3 carrier)
{{?NORMAL_IN_TWO}}float3 VatNormal({{LOOKUP_PARAMETER}}Texture2D<float4> normals, Texture2D<float4> normalsFine, uint vertex, VatFrame at, float3 carrier)
{{?HAS_NORMAL}}{
{{?HAS_NORMAL}}{{!NORMAL_IN_TWO}}    float3 normal = VatNormalIn(normals, {{TEXEL_IN_HLSL}}vertex, at.frame));
{{?NORMAL_IN_TWO}}    float3 normal = VatNormalIn(normals, normalsFine, {{TEXEL_IN_HLSL}}vertex, at.frame));
{{?HAS_NORMAL}}{{?CAN_BLEND}}    if (at.weight > 0.0)
{{?HAS_NORMAL}}{{?CAN_BLEND}}    {
{{?HAS_NORMAL}}{{?CAN_BLEND}}{{!NORMAL_IN_TWO}}        normal += (VatNormalIn(normals, {{TEXEL_IN_HLSL}}vertex, at.next)) - normal) * at.weight;
{{?NORMAL_IN_TWO}}{{?CAN_BLEND}}        normal += (VatNormalIn(normals, normalsFine, {{TEXEL_IN_HLSL}}vertex, at.next)) - normal) * at.weight;
{{?HAS_NORMAL}}{{?CAN_BLEND}}    }
{{?HAS_NORMAL}}    float lengthSquared = dot(normal, normal);
{{?HAS_NORMAL}}    return lengthSquared < 1e-12 ? carrier : normal * rsqrt(lengthSquared);
{{?HAS_NORMAL}}}

#ifndef VAT_WITHOUT_SHADER_GRAPH
void VatVertex_float(
{{?HAS_LOOKUP}}    UnityTexture2D lookupTexture,
    UnityTexture2D placeTexture,
{{?IN_TWO}}    UnityTexture2D placeFineTexture,
{{?HAS_NORMAL}}    UnityTexture2D normalTexture,
{{?NORMAL_IN_TWO}}    UnityTexture2D normalFineTexture,
{{*ATTRIBUTE}}
    UnityTexture2D {{ATTRIBUTE_CAMEL}}Texture,
{{?ATTRIBUTE_IN_TWO}}    UnityTexture2D {{ATTRIBUTE_CAMEL}}FineTexture,
{{/ATTRIBUTE}}
    float vertexId, float clip, float secs, float3 carrierPosition, float3 carrierNormal,
    out float3 position, out float3 normal{{UNITY_OUTPUTS}})
{
    // Half a step, so that no rounding of the graph's floats takes the number before.
    uint vertex = (uint)(vertexId + 0.5);
    VatFrame at = VatFrameAt((uint)(clip + 0.5), secs);
{{!IN_TWO}}    position = VatPosition({{LOOKUP_GRAPH}}placeTexture.tex, vertex, at, carrierPosition);
{{?IN_TWO}}    position = VatPosition({{LOOKUP_GRAPH}}placeTexture.tex, placeFineTexture.tex, vertex, at, carrierPosition);
    normal = carrierNormal;
{{?HAS_NORMAL}}{{!NORMAL_IN_TWO}}    normal = VatNormal({{LOOKUP_GRAPH}}normalTexture.tex, vertex, at, carrierNormal);
{{?NORMAL_IN_TWO}}    normal = VatNormal({{LOOKUP_GRAPH}}normalTexture.tex, normalFineTexture.tex, vertex, at, carrierNormal);
{{*ATTRIBUTE}}    {{ATTRIBUTE_CAMEL}} = Vat{{ATTRIBUTE_PASCAL}}({{LOOKUP_GRAPH}}{{ATTRIBUTE_GRAPH}}, vertex, at);
}
#endif
{{/IS_VERTICES}}
{{>MODE}}
