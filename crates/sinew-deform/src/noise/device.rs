//! The noise on a device: rest positions in the local frame, and the octaves of a frame.

use super::bind::{MAX_OCTAVES, NoiseBind, NoiseDirection, NoiseSettings};
use crate::{
    DeviceConstant, DeviceFrame, DeviceFrameData, DeviceNode, DevicePass, DeviceSetting,
    DeviceType, MASK_WEIGHT_WGSL, MaskWeight, UniformLayout,
};
use bytemuck::Zeroable;

crate::uniform_struct! {
    /// As in `kernel.wgsl`.
    struct OctaveUniforms {
        shift: [f32; 3],
        frequency: f32,
        cell: [u32; 3],
        amplitude: f32,
    }
}

crate::uniform_struct! {
    /// As in `kernel.wgsl`.
    struct Uniforms {
        octaves: [OctaveUniforms; MAX_OCTAVES],
        directions: [[f32; 4]; 3],
        octave_count: u32,
        seed: u32,
        weight: f32,
        mask_invert: u32,
    }
}

pub(super) fn node(bind: &NoiseBind) -> DeviceNode {
    let is = |direction| DeviceSetting::Bool(bind.direction == direction);
    DeviceNode {
        shared: vec![MASK_WEIGHT_WGSL],
        settings: vec![
            ("IS_ACTIVE", DeviceSetting::Bool(!bind.is_flat())),
            ("ALONG_NORMAL", is(NoiseDirection::Normal)),
            ("IS_FREE", is(NoiseDirection::Free)),
        ],
        constants: vec![DeviceConstant::new("local", DeviceType::Vec3F, &bind.local)],
        uniforms: UniformLayout::of::<Uniforms>(),
        passes: vec![DevicePass::per_vertex("noise", include_str!("kernel.wgsl"))],
        ..DeviceNode::default()
    }
}

pub(super) fn write_frame(
    bind: &NoiseBind,
    frame: &DeviceFrame<'_>,
    data: &mut DeviceFrameData<'_>,
) {
    let settings = NoiseSettings::from_parameters(&frame.parameters);
    let octaves = settings.octaves();
    let (weight, mask_invert) = MaskWeight::uniforms(&frame.parameters);
    let mut uniforms = Uniforms {
        directions: bind.directions.map(|[x, y, z]| [x, y, z, 0.0]),
        octave_count: octaves.len() as u32,
        seed: settings.seed,
        weight,
        mask_invert,
        ..Uniforms::zeroed()
    };
    for (to, octave) in uniforms.octaves.iter_mut().zip(&octaves) {
        let octave = octave.cast::<f32>();
        *to = OctaveUniforms {
            shift: octave.shift,
            frequency: octave.frequency,
            cell: octave.cell.map(i32::cast_unsigned),
            amplitude: octave.amplitude,
        };
    }
    data.set_uniforms(&uniforms);
}
