
#ifndef VAT_WITHOUT_SHADER_GRAPH
// `uv` is a UV node of channel UV{{UV_SET}}.
void VatVertex_float(
    UnityTexture2D placeTexture,
{{?IN_TWO}}    UnityTexture2D placeFineTexture,
    UnityTexture2D rotationTexture,
{{?ROTATION_IN_TWO}}    UnityTexture2D rotationFineTexture,
    float2 uv, float clip, float secs, float3 carrierPosition, float3 carrierNormal,
    out float3 position, out float3 normal)
{
    uint piece = VatVertexByUv(uv);
    VatFrame at = VatFrameAt((uint)(clip + 0.5), secs);
    position = VatPosition({{PLACE_GRAPH}}, {{ROTATION_GRAPH}}, piece, at, carrierPosition);
    normal = VatNormal({{ROTATION_GRAPH}}, piece, at, carrierNormal);
}
#endif

#endif
