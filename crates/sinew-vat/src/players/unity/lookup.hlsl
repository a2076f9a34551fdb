
#ifndef VAT_WITHOUT_SHADER_GRAPH
void VatVertex_float(
    UnityTexture2D lookupTexture,
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
    position = VatPosition(lookupTexture.tex, {{PLACE_GRAPH}}, vertex, at, carrierPosition);
    normal = carrierNormal;
{{?HAS_NORMAL}}    normal = VatNormal(lookupTexture.tex, {{NORMAL_GRAPH}}, vertex, at, carrierNormal);
{{*ATTRIBUTE}}    {{ATTRIBUTE_CAMEL}} = Vat{{ATTRIBUTE_PASCAL}}({{LOOKUP_GRAPH}}{{ATTRIBUTE_GRAPH}}, vertex, at);
}
#endif

#endif
