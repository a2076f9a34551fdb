// The surface is the driver.

const with_tangents = false;

fn surface_position(vertex: u32) -> vec3f {
    return read_driver_positions(vertex);
}
