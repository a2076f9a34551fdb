// A vertex on its way through skinning.

struct SkinVertex {
    position: vec3f,
    normal: vec3f,
    tangent: vec4f,
}

// Squared lengths up to this have no direction.
const NO_LENGTH = 1e-36;

const TURNS_NORMALS = has_mesh_normals && wants_mesh_normals;
const TURNS_TANGENTS = has_mesh_tangents && wants_mesh_tangents;

fn read_vertex(index: u32) -> SkinVertex {
    var v: SkinVertex;
    v.position = read_mesh_positions(index);
    if (TURNS_NORMALS) {
        v.normal = read_mesh_normals(index);
    }
    if (TURNS_TANGENTS) {
        v.tangent = read_mesh_tangents(index);
    }
    return v;
}

fn write_vertex(index: u32, v: SkinVertex) {
    write_mesh_positions(index, v.position);
    if (TURNS_NORMALS) {
        write_mesh_normals(index, v.normal);
    }
    if (TURNS_TANGENTS) {
        write_mesh_tangents(index, v.tangent);
    }
}

// The unit vector along `v`; `rest` where it has no direction.
fn direction(v: vec3f, rest: vec3f) -> vec3f {
    let squared = dot(v, v);
    if (squared > NO_LENGTH) {
        return v / sqrt(squared);
    }
    return rest;
}

// Position and frame through an affine map; the columns of `m` are the rows of the map.
fn through_rows(m: mat3x4f, v: SkinVertex) -> SkinVertex {
    var out = v;
    out.position = vec4f(v.position, 1.0) * m;
    if (TURNS_NORMALS || TURNS_TANGENTS) {
        // Rows of the cofactor matrix are cross products of the rows.
        let cofactor_x = cross(m[1].xyz, m[2].xyz);
        let mirrors = dot(m[0].xyz, cofactor_x) < 0.0;
        if (TURNS_NORMALS) {
            let n = v.normal;
            let turned = vec3f(
                dot(cofactor_x, n),
                dot(cross(m[2].xyz, m[0].xyz), n),
                dot(cross(m[0].xyz, m[1].xyz), n),
            );
            out.normal = direction(select(turned, -turned, mirrors), n);
        }
        if (TURNS_TANGENTS) {
            let t = direction(vec4f(v.tangent.xyz, 0.0) * m, v.tangent.xyz);
            out.tangent = vec4f(t, select(v.tangent.w, -v.tangent.w, mirrors));
        }
    }
    return out;
}
