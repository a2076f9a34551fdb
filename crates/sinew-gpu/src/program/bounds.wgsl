// Lowest and highest coordinates. What stands in front of this text: GROUP, the invocations of a workgroup.
// Minimum and maximum are exact: the result does not depend on the order.

var<workgroup> lowest: array<vec3f, GROUP>;
var<workgroup> highest: array<vec3f, GROUP>;

// The first invocation gets what all of the workgroup have found, in `lowest[0]` and `highest[0]`.
fn reduce(local: u32, low: vec3f, high: vec3f) {
    lowest[local] = low;
    highest[local] = high;
    for (var reach = GROUP / 2u; reach > 0u; reach /= 2u) {
        workgroupBarrier();
        if (local < reach) {
            lowest[local] = min(lowest[local], lowest[local + reach]);
            highest[local] = max(highest[local], highest[local + reach]);
        }
    }
}
