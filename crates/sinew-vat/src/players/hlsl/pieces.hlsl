
// A texel is a piece that moves without bending. The mesh is the first frame; its texture coordinates {{UV_SET}} point at the texel of the
// vertex' piece there (VatVertexByUv gives the number of the piece), and the position in that texel is the piece's pivot.

float4 VatRotationIn({{ROTATION_PARAMETERS}}, int3 texel)
{
    float4 stored = rotations.Load(texel);
{{?ROTATION_IN_TWO}}    stored += 0.01 * rotationsFine.Load(texel);
    return stored * float4({{ROTATION_SCALE}}) + float4({{ROTATION_OFFSET}});
}

// Unit quaternion of a piece.
float4 VatRotation({{ROTATION_PARAMETERS}}, uint piece, VatFrame at)
{
    float4 rotation = VatRotationIn({{ROTATION_ARGUMENTS}}, VatTexel(piece, at.frame));
{{?CAN_BLEND}}    if (at.weight > 0.0)
{{?CAN_BLEND}}    {
{{?CAN_BLEND}}        float4 next = VatRotationIn({{ROTATION_ARGUMENTS}}, VatTexel(piece, at.next));
{{?CAN_BLEND}}        // Both signs are the same rotation; the nearer one is the shorter way.
{{?CAN_BLEND}}        next = dot(rotation, next) < 0.0 ? -next : next;
{{?CAN_BLEND}}        rotation += (next - rotation) * at.weight;
{{?CAN_BLEND}}    }
    float lengthSquared = dot(rotation, rotation);
    return lengthSquared < 1e-12 ? float4(0.0, 0.0, 0.0, 1.0) : rotation * rsqrt(lengthSquared);
}

float3 VatTurn(float4 rotation, float3 v)
{
    return v + 2.0 * cross(rotation.xyz, cross(rotation.xyz, v) + rotation.w * v);
}

// Position of a vertex in the space of the mesh; `carrier` is the position that the mesh has there.
float3 VatPosition({{PLACE_PARAMETERS}}, {{ROTATION_PARAMETERS}}, uint piece, VatFrame at, float3 carrier)
{
    float3 pivot = VatPlaceIn({{PLACE_ARGUMENTS}}, VatTexel(piece, 0u));
    float3 result = VatPlaceIn({{PLACE_ARGUMENTS}}, VatTexel(piece, at.frame));
{{?CAN_BLEND}}    if (at.weight > 0.0)
{{?CAN_BLEND}}    {
{{?CAN_BLEND}}        result += (VatPlaceIn({{PLACE_ARGUMENTS}}, VatTexel(piece, at.next)) - result) * at.weight;
{{?CAN_BLEND}}    }
    return result + VatTurn(VatRotation({{ROTATION_ARGUMENTS}}, piece, at), carrier - pivot);
}

// Unit normal of a vertex; `carrier` is the normal that the mesh has there.
float3 VatNormal({{ROTATION_PARAMETERS}}, uint piece, VatFrame at, float3 carrier)
{
    return VatTurn(VatRotation({{ROTATION_ARGUMENTS}}, piece, at), carrier);
}
