//! Crowds: an invocation processes several characters and elements one after another, and per-frame data of characters (joint matrices) is
//! in workgroup memory.
//!
//! The bottleneck of skinning many characters is the path from the caches to registers: 192 bytes of matrices per vertex. Reads from
//! workgroup memory take fewer instructions, and data that characters share is read once for several of them.

use super::group::Group;
use super::memory::{ArrayShape, Kind, Memory};
use super::planning::LaunchStyle;
use crate::adapter::DeviceLimits;
use sinew_deform::{DeviceType, Phase};
use std::collections::BTreeSet;

/// Characters of an invocation; more need more workgroup memory, and fewer workgroups fit beside each other.
const CHARACTERS: u32 = 2;
/// Elements of an invocation, so that filling workgroup memory is worth it.
const TURNS: u32 = 4;
/// Invocations of a workgroup.
const WORKGROUP: u32 = 256;
/// Bytes of workgroup memory, so that several workgroups fit beside each other.
const MOST_BYTES: usize = 16_384;
/// Workgroups that keep a large device busy.
const BUSY: usize = 2048;

/// How a launch goes over characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Crowd {
    /// Characters that an invocation takes.
    pub(super) characters: u32,
    /// Elements that it takes of each.
    pub(super) turns: u32,
    /// Invocations of a workgroup.
    pub(super) workgroup: u32,
    /// All characters.
    pub(super) instances: usize,
    /// What lies in workgroup memory.
    pub(super) arrays: Vec<Memory>,
}

impl Crowd {
    /// `None` where each invocation is better off with one element of one character.
    pub(super) fn of(
        group: &Group,
        shape: &dyn Fn(Memory) -> ArrayShape,
        instances: usize,
        style: LaunchStyle,
        limits: &DeviceLimits,
    ) -> Option<Self> {
        let plain = group.tiling.is_none() && group.phase() == Phase::Update && !group.varies();
        let of_users = group.passes.iter().any(|p| p.guarded);
        let plain = plain && !group.is_grouped();
        let fits = limits.invocations_per_workgroup >= WORKGROUP;
        if instances < 2 || !plain || of_users || !fits || style == LaunchStyle::Compact {
            return None;
        }
        let workgroups = |turns: u32| {
            let elements = group.count().div_ceil((WORKGROUP * turns) as usize);
            elements * instances.div_ceil(CHARACTERS as usize)
        };
        let turns = match style {
            LaunchStyle::Plain => TURNS,
            _ => (1..=TURNS).rev().find(|&turns| workgroups(turns) >= BUSY)?,
        };
        let read = group.passes.iter().flat_map(|p| p.reads());
        let read: BTreeSet<Memory> = read.filter(|&m| may_share(m, shape)).collect();
        let most = MOST_BYTES.min(limits.workgroup_memory_bytes as usize);
        let mut bytes = 0;
        let arrays: Vec<Memory> = read
            .into_iter()
            .filter(|&m| {
                let more = shape(m).bytes(CHARACTERS as usize);
                let fits = bytes + more <= most;
                bytes += if fits { more } else { 0 };
                fits
            })
            .collect();
        (!arrays.is_empty()).then_some(Self {
            characters: CHARACTERS,
            turns,
            workgroup: WORKGROUP,
            instances,
            arrays,
        })
    }
}

/// Arrays of the frame whose elements are as wide in workgroup memory as in buffers.
fn may_share(memory: Memory, shape: &dyn Fn(Memory) -> ArrayShape) -> bool {
    let kind = || shape(memory).kind;
    matches!(memory, Memory::FrameArray { .. })
        && matches!(kind(), Kind::Plain(ty) if ty != DeviceType::Vec3F)
}
