// Elementary functions of which every device gives the same digits: those built in may be as coarse as 2^-11. The polynomials
// are those of the processor's kernels (Moshier's Cephes library), within 3e-7.

// Sine and cosine. The error grows with the angle beyond about 8000 rad.
fn sine_cosine(angle: f32) -> vec2f {
    let n = round(angle * 0.63661975);
    // pi/2 in three parts, the first two exact in few bits.
    let reduced = fma(n, -7.54979e-8, fma(n, -4.837513e-4, fma(n, -1.5703125, angle)));
    let r = clamp(reduced, -0.8, 0.8);
    let r2 = r * r;
    let s = r + r * r2 * (-0.16666655 + r2 * (8.332161e-3 - r2 * 1.9515296e-4));
    let c = 1.0 - 0.5 * r2 + r2 * r2 * (4.1666646e-2 + r2 * (-1.3887316e-3 + r2 * 2.4433157e-5));
    let quadrant = i32(n) & 3;
    let turned = select(vec2f(s, c), vec2f(c, s), (quadrant & 1) != 0);
    let negative = vec2<bool>(quadrant >= 2, quadrant == 1 || quadrant == 2);
    return select(turned, -turned, negative);
}

// The exponential of a number clamped to [-87, 88].
fn exponential(power: f32) -> f32 {
    let x = clamp(power, -87.0, 88.0);
    let n = round(x * 1.442695);
    // ln 2 in two parts.
    let r = fma(n, 2.1219444e-4, fma(n, -0.6933594, x));
    var p = 1.9875691e-4;
    p = p * r + 1.3982e-3;
    p = p * r + 8.333452e-3;
    p = p * r + 4.1665796e-2;
    p = p * r + 0.16666666;
    p = p * r + 0.5;
    let power_of_two = bitcast<f32>(u32(i32(n) + 127) << 23u);
    return (p * r * r + r + 1.0) * power_of_two;
}

// Angle of the point (x, y) for y >= 0: from 0 to pi, and 0 at the origin.
fn angle_above(y: f32, x: f32) -> f32 {
    let size = abs(x);
    let ratio = min(y, size) / max(max(y, size), 1.2e-38);
    // Above tan(pi/8), by the angle to pi/4.
    let upper = ratio > 0.41421357;
    let z = select(ratio, (ratio - 1.0) / (ratio + 1.0), upper);
    let z2 = z * z;
    let p = ((8.0537445e-2 * z2 - 0.13877685) * z2 + 0.19977711) * z2 - 0.3333295;
    var angle = select(0.0, 0.7853982, upper) + (p * z2 * z + z);
    angle = select(angle, 1.5707964 - angle, y > size);
    return select(angle, 3.1415927 - angle, x < 0.0);
}
