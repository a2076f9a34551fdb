//! What a node runs on the GPU, as plain data: kernel texts, the arrays they read, what comes with each frame.
//!
//! Nothing here knows a graphics library; whoever has one puts the texts together. A kernel's text is WGSL with a
//! function `kernel(index: u32)`. It sees neither bindings nor other nodes, only functions that are made for it:
//!
//! | call | gives |
//! |---|---|
//! | `read_PORT_positions(i) -> vec3f`, `..._normals` (`vec3f`), `..._tangents`, `..._colors` (`vec4f`) | current attribute of vertex `i` at a mesh input that declares to read it; zero where it is missing |
//! | `has_PORT_normals` and so on, `bool` | whether the input brings it |
//! | `write_PORT_positions(i, v)` and so on | attribute of a mesh output; does nothing if the output has no reader |
//! | `wants_PORT_normals` and so on, `bool` | whether the output has a reader |
//! | `read_PORT(i) -> f32`, `has_PORT`, `count_PORT` | a mask or values input, whether something is linked, how many |
//! | `read_PORT_from(i)`, `read_PORT_to(i)` (`vec3f`), `read_PORT_color(i)` (`vec4f`), `has_PORT`, `count_PORT` | a lines input |
//! | `write_PORT(i, v)`, `wants_PORT` | a mask or values output (`f32`) |
//! | `write_PORT(i, from, to, color)`, `wants_PORT` | a lines output |
//! | `read_NAME(i)`, `count_NAME` | an array of [`DeviceNode::constants`], [`DeviceNode::frame_arrays`] or [`DeviceNode::scratch`] |
//! | `write_NAME(i, v)` | an array of the scratch |
//! | `add_NAME(i, v)`, `max_NAME(i, v)` | adds to an element of the scratch, or raises it to `v`, as one step that no other invocation comes between: arrays of whole numbers. Gives what was there before. The order in which invocations do so is open, the result is not. A pass that calls one of them uses that array for nothing else |
//! | `open_RELATION(i) -> u32` | goes to the row of element `i` in a [`DeviceNode::relations`] and tells how many entries it has |
//! | `RELATION_PORT_positions(k)` and so on, `RELATION_NAME(k)` | that attribute, or that array, at the element that entry `k` of the open row names; entries are read in rising order |
//! | `RELATION_count()`, `RELATION_groups()`, `u32` | how many entries, or whole groups of entries, the open row has. As the bound of `for (var k = 0u; k < RELATION_count(); k++)` the loop may be unrolled, over rows that are filled up as [`DeviceRelation::padding`] says, with zeros as extras; it must not leave the loop or skip a turn |
//! | `RELATION_extra(k) -> u32` | the word beside entry `k` of the open row |
//! | `read_PORT(i)`, `count_PORT`; `write_PORT(i, v)`, `add_PORT(i, v)`, `wants_PORT` | a buffer input; a buffer output |
//! | `read_PORT_rest_positions(i) -> vec3f` | a vertex of the mesh input at rest |
//! | `uniforms() -> Uniforms` | what [`crate::BoundNode::write_device_frame`] wrote for this frame; the text declares `struct Uniforms` |
//! | `vertex_count`, `u32` | vertices of the node's first mesh |
//! | `NAME` | a constant of [`DeviceNode::settings`] |
//!
//! `has_`, `wants_`, `count_`, `vertex_count` and settings are constants, so that a compiler drops what they switch off. Poses have no
//! functions: what a kernel needs of one goes into a frame array. Helper functions of a text may have any name; every node has
//! names of its own.
//!
//! # Passes that run in groups
//!
//! A pass over [`DeviceDomain::Groups`] has the function `kernel(group: u32, local: u32)` instead, called for each invocation of each
//! workgroup: `local` counts the [`DevicePass::group_size`] invocations of a group. All of them come to it together, so that the text may
//! declare `var<workgroup>` and use `workgroupBarrier` and `workgroupUniformLoad`; `group` is the same for all of them. Workgroup memory
//! holds whatever was there before: the text writes it before it reads it.

use crate::sdf::FieldReach;
use crate::{Element, Inputs, MeshAttribute, Parameters};
use arrayvec::ArrayVec;
use bytemuck::{NoUninit, Pod};
use sinew_geom::{PackedAffine, index32};
use std::sync::Arc;

/// `unit_or` and `towards`: directions through linear maps, for kernels of many nodes.
pub(crate) const DIRECTIONS_WGSL: &str = include_str!("directions.wgsl");

/// `unpacked`: reads what [`DeviceConstant::packed`] wrote.
pub(crate) const PACKED_WGSL: &str = include_str!("packed.wgsl");

/// Element types of arrays on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceType {
    /// `f32`.
    F32,
    /// `u32`.
    U32,
    /// `i32`.
    I32,
    /// `vec2f`, 8 bytes.
    Vec2F,
    /// `vec3f`, packed: 12 bytes.
    Vec3F,
    /// `vec4f`, 16 bytes.
    Vec4F,
    /// `vec2u`, 8 bytes.
    Vec2U,
    /// `vec4u`, 16 bytes.
    Vec4U,
}

impl DeviceType {
    /// Bytes of one element; elements follow each other without gaps.
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 | Self::U32 | Self::I32 => 4,
            Self::Vec2F | Self::Vec2U => 8,
            Self::Vec3F => 12,
            Self::Vec4F | Self::Vec4U => 16,
        }
    }
    /// WGSL type that `read_NAME` returns.
    pub fn wgsl(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::Vec2F => "vec2f",
            Self::Vec3F => "vec3f",
            Self::Vec4F => "vec4f",
            Self::Vec2U => "vec2u",
            Self::Vec4U => "vec4u",
        }
    }
}

impl Element {
    /// WGSL type of one element in kernels; lines are read as their floats.
    pub fn wgsl(self) -> &'static str {
        match self {
            Self::Float | Self::Line => "f32",
            Self::Int => "i32",
            Self::Uint => "u32",
            Self::Vec2 => "vec2f",
            Self::Vec3 => "vec3f",
            Self::Vec4 => "vec4f",
        }
    }
}

impl MeshAttribute {
    /// Its name in the functions that kernels call.
    pub fn wgsl_name(self) -> &'static str {
        match self {
            Self::Positions => "positions",
            Self::Normals => "normals",
            Self::Tangents => "tangents",
            Self::Colors => "colors",
        }
    }
}

/// A setup result on the GPU, the same for all instances and frames.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceConstant {
    /// `read_NAME` in the text.
    pub name: &'static str,
    /// What it is made of.
    pub ty: DeviceType,
    /// The elements without gaps, in the byte order of the machine. Shared, because they may take many megabytes.
    pub bytes: Arc<[u8]>,
}

impl DeviceConstant {
    /// Copies `data`, whose bytes are read as elements of type `ty`. Bytes after the last whole element are never read.
    pub fn new<T: NoUninit>(name: &'static str, ty: DeviceType, data: &[T]) -> Self {
        Self {
            name,
            ty,
            bytes: bytemuck::cast_slice(data).into(),
        }
    }
    /// How many whole numbers up to `largest` go into a `u32`: 4, 2 or 1.
    pub(crate) fn per_word(largest: usize) -> u32 {
        match largest {
            0..=0xff => 4,
            0x100..=0xffff => 2,
            _ => 1,
        }
    }
    /// Packs small whole numbers, `per_word` (4, 2 or 1) to a `u32`, the first in the lowest bits. The last word is filled with zeros.
    /// Numbers that are too large lose their upper bits.
    pub fn packed(name: &'static str, values: &[u32], per_word: u32) -> Self {
        let per_word = per_word.clamp(1, 4);
        let bits = 32 / per_word;
        let mask = u32::MAX >> (32 - bits);
        let words: Vec<u32> = values
            .chunks(per_word as usize)
            .map(|chunk| {
                let placed = chunk.iter().zip((0..).step_by(bits as usize));
                placed.fold(0, |word, (v, at)| word | (v & mask) << at)
            })
            .collect();
        Self::new(name, DeviceType::U32, &words)
    }
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.ty.bytes()
    }
    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// An array whose length is fixed in setup: scratch, or data of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceArray {
    /// `read_NAME` (scratch: and `write_NAME`) in the text.
    pub name: &'static str,
    /// What it is made of.
    pub ty: DeviceType,
    /// Number of elements.
    pub len: usize,
    /// Scratch only: whether its content lives from frame to frame. Other arrays may never reach memory.
    pub lasting: bool,
}

/// For each element of one domain, some elements of another: neighbours, corners, members.
///
/// Through a relation, a pass may read what earlier passes wrote and still run in one dispatch with them: the executor knows which elements
/// it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceRelation {
    /// `open_NAME` in the text.
    pub name: &'static str,
    /// Domain of the rows: one row per element.
    pub from: DeviceDomain,
    /// Domain of the entries.
    pub to: DeviceDomain,
    /// One offset more than rows: row `i` is `entries[offsets[i]..offsets[i + 1]]`.
    pub offsets: Vec<u32>,
    /// The rows, one after another.
    pub entries: Vec<u32>,
    /// Number of entries that are read together, 2 or 3.
    pub group: u32,
    /// Words beside the entries: none, one per group of entries, or one per entry (groups of 2 only). Rows need not be whole groups.
    pub extras: DeviceExtras,
    /// What loops over `RELATION_count()` and `RELATION_groups()` read after the end of a row.
    pub padding: DevicePadding,
    /// The extra word beside padding.
    pub padding_word: u32,
}

/// What fills rows of a [`DeviceRelation`] up to a common length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DevicePadding {
    /// The row's first entry: differences to it are zero.
    #[default]
    First,
    /// The row's last entry: differences between consecutive entries are zero.
    Last,
    /// An element that is zero: sums do not change.
    Zero,
}

/// Words beside the entries of a [`DeviceRelation`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceExtras {
    /// None.
    #[default]
    None,
    /// One per group; rows are whole groups.
    PerGroup(Vec<u32>),
    /// One per entry.
    PerEntry(Vec<u32>),
}

impl DeviceRelation {
    /// From one list per row, in groups of two, without extras. Indices are not checked.
    pub fn new<R: AsRef<[u32]>>(
        name: &'static str,
        [from, to]: [DeviceDomain; 2],
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let mut this = Self {
            name,
            from,
            to,
            offsets: vec![0],
            group: 2,
            ..Self::default()
        };
        for row in rows {
            this.entries.extend_from_slice(row.as_ref());
            this.offsets.push(index32(this.entries.len()));
        }
        this
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Entries of a row; empty if there is no such row.
    pub fn row(&self, i: usize) -> &[u32] {
        let at = |i: usize| self.offsets.get(i).map_or(0, |&o| o as usize);
        self.entries.get(at(i)..at(i + 1)).unwrap_or_default()
    }
    /// Extra words of a row; empty if there are none or no such row.
    pub fn extras_of(&self, i: usize) -> &[u32] {
        let at = |i: usize| self.offsets.get(i).map_or(0, |&o| o as usize);
        let group = (self.group as usize).max(1);
        match &self.extras {
            DeviceExtras::None => &[],
            DeviceExtras::PerGroup(words) => words
                .get(at(i) / group..at(i + 1) / group)
                .unwrap_or_default(),
            DeviceExtras::PerEntry(words) => words.get(at(i)..at(i + 1)).unwrap_or_default(),
        }
    }
    /// Whether row `i` has entry `i` alone, for every row, and there are no extras.
    pub fn is_identity(&self) -> bool {
        self.extras == DeviceExtras::None
            && self.offsets.iter().zip(0..).all(|(&o, i)| o == i)
            && self.entries.iter().zip(0..).all(|(&e, i)| e == i)
    }
}

/// A number or truth value that is fixed in setup and becomes a constant of the kernel text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeviceSetting {
    /// `const NAME: bool`.
    Bool(bool),
    /// `const NAME: u32`.
    U32(u32),
    /// `const NAME: f32`.
    F32(f32),
}

/// What a pass runs over.
///
/// An invocation runs per vertex or element. A group is a whole workgroup whose invocations work together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceDomain {
    /// The vertices of the node's first mesh.
    #[default]
    Vertices,
    /// This number of elements.
    Elements(usize),
    /// This number of workgroups.
    Groups(usize),
}

/// Which elements of its inputs and scratch a pass reads. This decides which passes share a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locality {
    /// Its own index and those that relations name: it can share a dispatch with passes before and after it.
    Own,
    /// Any element: earlier passes must have finished writing.
    Gather,
    /// Any element, and it also writes other elements than its own, adds to them or skips some: no later pass can share its dispatch.
    Scatter,
}

/// One kernel over one domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DevicePass {
    /// A word for it in timings.
    pub name: &'static str,
    /// WGSL with `fn kernel(index: u32)`; with `fn kernel(group: u32, local: u32)` over [`DeviceDomain::Groups`].
    pub text: &'static str,
    /// What it runs over.
    pub domain: DeviceDomain,
    /// What it reads.
    pub locality: Locality,
    /// Names in the text and the arrays that they stand for: one text can go from `a` to `b`, and from `b` to `a`.
    pub aliases: &'static [(&'static str, &'static str)],
    /// A `has_` or `wants_` constant and its value for which the pass runs; otherwise it is left out.
    pub when: Option<(&'static str, bool)>,
    /// Invocations per workgroup; if `None`, [`DeviceNode::group_size`].
    pub group_size: Option<u32>,
}

impl DevicePass {
    /// A pass over the vertices that reads its own elements only.
    pub const fn per_vertex(name: &'static str, text: &'static str) -> Self {
        Self {
            name,
            text,
            domain: DeviceDomain::Vertices,
            locality: Locality::Own,
            aliases: &[],
            when: None,
            group_size: None,
        }
    }
    /// A pass of `groups` workgroups of `size` invocations that read and write any elements.
    pub const fn in_groups(
        name: &'static str,
        text: &'static str,
        groups: usize,
        size: u32,
    ) -> Self {
        Self {
            domain: DeviceDomain::Groups(groups),
            locality: Locality::Scatter,
            group_size: Some(size),
            ..Self::per_vertex(name, text)
        }
    }
    /// The same, only where a `has_` or `wants_` constant has that value.
    pub(crate) const fn only_when(self, name: &'static str, value: bool) -> Self {
        Self {
            when: Some((name, value)),
            ..self
        }
    }
    /// The same, reading anything.
    pub(crate) const fn gathering(self) -> Self {
        Self {
            locality: Locality::Gather,
            ..self
        }
    }
    /// The same pass, which also writes other elements than its own.
    pub const fn scattering(self) -> Self {
        Self {
            locality: Locality::Scatter,
            ..self
        }
    }
    /// The same pass over another domain.
    pub const fn over(self, domain: DeviceDomain) -> Self {
        Self { domain, ..self }
    }
    /// The same pass with these aliases.
    pub const fn with(self, aliases: &'static [(&'static str, &'static str)]) -> Self {
        Self { aliases, ..self }
    }
}

/// Kinds of members of a uniform structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UniformKind {
    /// `f32`, vectors, matrices and arrays of it.
    F32,
    /// `u32`, vectors and arrays of it.
    U32,
    /// A structure, or an array of it.
    Struct(&'static [UniformMember]),
}

/// A member of a uniform structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformMember {
    /// Its name; one that begins with `unused` is padding.
    pub name: &'static str,
    /// Bytes from the start of the structure.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
    /// What it is made of.
    pub kind: UniformKind,
}

/// A type that a uniform structure may contain; [`crate::uniform_struct`] implements it.
pub trait UniformType {
    /// Its kind.
    const KIND: UniformKind;
}
impl UniformType for f32 {
    const KIND: UniformKind = UniformKind::F32;
}
impl UniformType for u32 {
    const KIND: UniformKind = UniformKind::U32;
}
impl UniformType for PackedAffine {
    const KIND: UniformKind = UniformKind::F32;
}
impl<T: UniformType, const N: usize> UniformType for [T; N] {
    const KIND: UniformKind = T::KIND;
}

/// Memory layout of a uniform structure in Rust. Tests compare it with the structure in WGSL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UniformLayout {
    /// Bytes of the structure.
    pub bytes: usize,
    /// Its members, in order.
    pub members: Vec<UniformMember>,
}

impl UniformLayout {
    /// The layout of a structure. A size that is no multiple of 16 bytes does not compile.
    pub fn of<T: UniformType>() -> Self {
        let bytes = const {
            assert!(size_of::<T>().is_multiple_of(16), "not whole vec4 rows");
            size_of::<T>()
        };
        match T::KIND {
            UniformKind::Struct(members) => Self {
                bytes,
                members: members.to_vec(),
            },
            _ => Self::unnamed(bytes),
        }
    }
    /// A layout of so many bytes without named members.
    pub fn unnamed(bytes: usize) -> Self {
        Self {
            bytes,
            members: Vec::new(),
        }
    }
}

/// Declares a structure of uniforms: `Pod`, `repr(C)`, with its [`UniformLayout`].
#[macro_export]
macro_rules! uniform_struct {
    ($(#[$attribute:meta])* $visible:vis struct $name:ident {
        $($(#[$of_member:meta])* $member:ident: $ty:ty),+ $(,)?
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        $visible struct $name {
            $($(#[$of_member])* $member: $ty),+
        }
        impl $crate::UniformType for $name {
            const KIND: $crate::UniformKind = $crate::UniformKind::Struct(&[
                $($crate::UniformMember {
                    name: stringify!($member),
                    offset: std::mem::offset_of!($name, $member),
                    size: size_of::<$ty>(),
                    kind: <$ty as $crate::UniformType>::KIND,
                }),+
            ]);
        }
    };
}

/// For kernels of users: name of a constant that the executor defines, the number of iterations that all loops together may take for one
/// element. A text that counts its iterations stops there.
pub const MAX_ITERATIONS: &str = "given_max_iterations";

/// What a node runs on the GPU.
///
/// All lengths are fixed in setup. Names must be unique within the node; the executor makes them unique across nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceNode {
    /// WGSL that all passes see: `struct Uniforms` and functions.
    pub shared: Vec<&'static str>,
    /// Constants in the text.
    pub settings: Vec<(&'static str, DeviceSetting)>,
    /// Setup results.
    pub constants: Vec<DeviceConstant>,
    /// Which elements passes read beside their own.
    pub relations: Vec<DeviceRelation>,
    /// Working memory of one instance. Only arrays that are [`DeviceArray::lasting`] keep their content from frame to frame.
    pub scratch: Vec<DeviceArray>,
    /// Layout of `struct Uniforms`, a multiple of 16 bytes; no bytes if the text has none.
    pub uniforms: UniformLayout,
    /// Arrays that the CPU writes in each frame, at most [`MAX_FRAME_ARRAYS`].
    pub frame_arrays: Vec<DeviceArray>,
    /// Passes, in the order in which they run unless [`crate::BoundNode::device_passes`] says otherwise.
    pub passes: Vec<DevicePass>,
    /// Whether [`crate::BoundNode::device_passes`] depends on the frame. Such passes share no dispatch.
    pub passes_vary: bool,
    /// Texts that setup generated, one per pass, after [`DevicePass::text`]; empty if no pass needs one.
    pub written: Vec<String>,
    /// Whether the texts come from a user. Every index is then compared with the array length: reading beyond it gives zero, writing does
    /// nothing.
    pub guarded: bool,
    /// For texts of a user: the share of each pass in what a driver may have to compile at once. Passes that take more than 1 together do
    /// not share a dispatch.
    pub compile_share: f64,
    /// Invocations per workgroup; if `None`, the executor chooses. Passes with different sizes do not share a dispatch.
    pub group_size: Option<u32>,
}

/// What a node sees on the CPU before a frame on the GPU: no mesh, no mask, nothing that only the GPU has.
#[derive(Clone, Copy, Debug)]
pub struct DeviceFrame<'a> {
    /// Time of the frame in seconds.
    pub time_secs: f64,
    /// Seconds since the frame before: 0 in the first frame, negative if time went back.
    pub dt_secs: f64,
    /// Whether this is the first frame of the instance. Kernels then initialise lasting scratch, whatever it holds.
    pub is_first: bool,
    /// As [`crate::UpdateContext::reach`].
    pub reach: Option<FieldReach>,
    /// Parameter values of this frame.
    pub parameters: Parameters<'a>,
    /// Poses and values that the CPU has.
    pub inputs: Inputs<'a>,
}

/// Largest number of [`DeviceNode::frame_arrays`] of one node: a frame keeps their list on the stack.
pub const MAX_FRAME_ARRAYS: usize = 16;

/// Where a node writes the data of a frame.
#[derive(Debug)]
pub struct DeviceFrameData<'a> {
    /// [`DeviceNode::uniforms`], with the length that the layout gives.
    pub uniforms: &'a mut [u8],
    /// In the order of [`DeviceNode::frame_arrays`].
    pub arrays: ArrayVec<&'a mut [u8], MAX_FRAME_ARRAYS>,
}

impl DeviceFrameData<'_> {
    /// Writes `struct Uniforms`. Bytes beyond the length of the layout are dropped.
    pub fn set_uniforms<T: NoUninit>(&mut self, value: &T) {
        let bytes = bytemuck::bytes_of(value);
        let n = bytes.len().min(self.uniforms.len());
        self.uniforms[..n].copy_from_slice(&bytes[..n]);
    }
    /// The array at an index of [`DeviceNode::frame_arrays`], to write. Empty if there is none, or if its bytes are no whole, aligned
    /// elements of `T`.
    pub fn array<T: Pod>(&mut self, index: usize) -> &mut [T] {
        let bytes = self.arrays.get_mut(index).map(|a| &mut **a);
        bytes
            .and_then(|bytes| bytemuck::try_cast_slice_mut(bytes).ok())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_share_words() {
        let values = [1, 2, 255, 4, 5];
        let four = DeviceConstant::packed("four", &values, DeviceConstant::per_word(255));
        assert_eq!(
            bytemuck::cast_slice::<u8, u32>(&four.bytes),
            [0x04ff_0201, 5]
        );
        let two = DeviceConstant::packed("two", &values, DeviceConstant::per_word(256));
        assert_eq!(
            bytemuck::cast_slice::<u8, u32>(&two.bytes),
            [0x0002_0001, 0x0004_00ff, 5]
        );
        let one = DeviceConstant::packed("one", &[70_000], DeviceConstant::per_word(70_000));
        assert_eq!(bytemuck::cast_slice::<u8, u32>(&one.bytes), [70_000]);
    }
}
