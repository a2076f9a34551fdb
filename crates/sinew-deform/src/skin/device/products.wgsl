// Weighted sums of rotations, and of the columns of the joints' matrices as quaternions, each times the joint's rotation.
struct Products {
    real: vec4f,
    columns: mat4x4f,
}

fn products_of(joint: u32) -> mat4x4f {
    let at = 4u * joint;
    return mat4x4f(read_products(at), read_products(at + 1u), read_products(at + 2u), read_products(at + 3u));
}

// Adds a joint's, turned to the side of the strongest joint's.
fn with_products(sum: Products, joint: u32, weight: f32, strongest: vec4f) -> Products {
    let real = read_motions(2u * joint);
    let w = select(weight, -weight, dot(real, strongest) < 0.0);
    return Products(sum.real + real * w, sum.columns + products_of(joint) * w);
}

fn blend_products(row: Row) -> Products {
    let strongest = read_motions(2u * row.joints.x);
    var sum = Products(strongest * row.weights.x, products_of(row.joints.x) * row.weights.x);
    if (INFLUENCES > 1u) {
        sum = with_products(sum, row.joints.y, row.weights.y, strongest);
    }
    if (INFLUENCES > 2u) {
        sum = with_products(sum, row.joints.z, row.weights.z, strongest);
    }
    if (INFLUENCES > 3u) {
        sum = with_products(sum, row.joints.w, row.weights.w, strongest);
    }
    if (HAS_TAIL) {
        for (var at = row.more.x; at < row.more.y; at++) {
            let next = influence(at);
            sum = with_products(sum, next.joint, next.weight, strongest);
        }
    }
    return sum;
}

// Rows of the blended map, as columns: each product times the conjugate of the blended rotation, over the square of its length.
fn product_rows(sum: Products) -> mat3x4f {
    // Never zero: the strongest joint's part is not cancelled by any other.
    let scale = 1.0 / max(dot(sum.real, sum.real), 1e-30);
    let x = without_rotation(sum.real, sum.columns[0]) * scale;
    let y = without_rotation(sum.real, sum.columns[1]) * scale;
    let z = without_rotation(sum.real, sum.columns[2]) * scale;
    let translation = without_rotation(sum.real, sum.columns[3]) * scale;
    return transpose(mat4x3f(x, y, z, translation));
}

fn dual_quaternion(row: Row, v: SkinVertex) -> SkinVertex {
    if (uniforms().stretched != 0u) {
        return through_rows(product_rows(blend_products(row)), v);
    }
    return through_motion(blend_motions(row), v);
}
