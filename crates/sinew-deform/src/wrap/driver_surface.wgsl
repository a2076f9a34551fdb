// The surface is the driver.

fn surface_own(vertex: u32) -> vec3f {
    return read_driver_positions(vertex);
}

fn surface_point(k: u32) -> vec3f {
    return around_driver_positions(k);
}
