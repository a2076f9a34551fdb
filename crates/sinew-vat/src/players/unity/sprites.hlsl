
#ifndef VAT_WITHOUT_SHADER_GRAPH
// `uv` is a UV node of channel UV{{UV_SET}}, `corner` one of UV0: 0 or 1 to the right and up, since importers of glTF turn v round. `right` and
// `up` are the camera's axes in object space (Transform nodes, type Direction, view to object, normalized).
void VatVertex_float(
    UnityTexture2D placeTexture,
{{?IN_TWO}}    UnityTexture2D placeFineTexture,
    UnityTexture2D sizeTexture,
{{?SIZE_IN_TWO}}    UnityTexture2D sizeFineTexture,
{{*ATTRIBUTE}}
    UnityTexture2D {{ATTRIBUTE_CAMEL}}Texture,
{{?ATTRIBUTE_IN_TWO}}    UnityTexture2D {{ATTRIBUTE_CAMEL}}FineTexture,
{{/ATTRIBUTE}}
    float2 uv, float2 corner, float clip, float secs, float3 right, float3 up,
    out float3 position{{UNITY_OUTPUTS}})
{
    VatFrame at = VatFrameAt((uint)(clip + 0.5), secs);
    position = VatPosition({{PLACE_GRAPH}}, {{SIZE_GRAPH}}, VatVertexByUv(uv), at, corner, right, up);
{{*ATTRIBUTE}}    {{ATTRIBUTE_CAMEL}} = Vat{{ATTRIBUTE_PASCAL}}({{ATTRIBUTE_GRAPH}}, VatVertexByUv(uv), at);
}
#endif

#endif
