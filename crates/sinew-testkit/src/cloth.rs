//! Cloth that tears, with a tear that is known.

use sinew_geom::{Attribute, Mesh, Topology, index32};

/// A square of cloth with waves, cut along one column of vertices from the first row on; its sides part a frame after they were split.
/// Vertices are numbered anew in each frame.
#[derive(Clone, Copy, Debug)]
pub struct TearingCloth {
    /// Quads in a row and in a column.
    pub quads: u32,
    /// Column of vertices that is cut, 1 to `quads - 1`.
    pub cut: u32,
    /// Rows by which the cut gets longer in each frame.
    pub rows_per_frame: u32,
}

impl TearingCloth {
    /// Vertices that are split in a frame: rows `0..` of the cut column.
    pub fn split_rows(&self, frame: u32) -> u32 {
        (frame * self.rows_per_frame).min(self.quads + 1)
    }

    /// Vertices before there is a tear.
    pub fn whole_vertices(&self) -> u32 {
        (self.quads + 1) * (self.quads + 1)
    }

    /// A frame: sides of one metre, texture coordinates, and the scalar attribute `side` (1 right of the cut, else 0) that differs along
    /// the tear. Triangles are the same in each frame.
    ///
    /// # Panics
    /// Where `cut` is no column inside.
    pub fn frame(&self, frame: u32) -> Mesh {
        assert!(
            (1..self.quads).contains(&self.cut),
            "a cut inside the cloth"
        );
        let columns = self.quads + 1;
        let whole = self.whole_vertices();
        let split = self.split_rows(frame);
        let right = |row: u32| whole + row;
        let vertex = |column: u32, row: u32, is_right: bool| match column == self.cut
            && is_right
            && row < split
        {
            true => right(row),
            false => row * columns + column,
        };
        let mut triangles = Vec::new();
        for row in 0..self.quads {
            for column in 0..self.quads {
                let at = |c: u32, r: u32| vertex(column + c, row + r, column >= self.cut);
                triangles.push([at(0, 0), at(0, 1), at(1, 1)]);
                triangles.push([at(0, 0), at(1, 1), at(1, 0)]);
            }
        }
        let seats = (0..whole).map(|v| (v % columns, v / columns, v % columns > self.cut));
        let seats: Vec<_> = seats
            .chain((0..split).map(|row| (self.cut, row, true)))
            .collect();
        let places = seats.iter().map(|s| self.place(*s, frame)).collect();
        let topology = Topology::new(whole + split, triangles).expect("in range");
        let mut mesh = Mesh::new("cloth", topology, places);
        let size = self.quads as f32;
        let uv = |s: &(u32, u32, bool)| [s.0 as f32 / size, s.1 as f32 / size];
        mesh.uvs = vec![seats.iter().map(uv).collect()];
        let side = seats.iter().map(|s| if s.2 { 1.0 } else { 0.0 });
        let side = Attribute::Scalar(side.collect());
        mesh.attributes.insert("side".into(), side);
        renumbered(&mesh, frame)
    }

    fn place(&self, (column, row, is_right): (u32, u32, bool), frame: u32) -> [f32; 3] {
        let size = self.quads as f32;
        let [x, y] = [column, row].map(|c| c as f32 / size);
        // A frame behind the split.
        let open = self.split_rows(frame.saturating_sub(1));
        let gap = 0.15 * open.saturating_sub(row) as f32 / size;
        let sign = if is_right { 1.0 } else { -1.0 };
        // The whole row goes aside, so that no triangle turns over.
        let height = 0.1 * (5.0 * x + 0.4 * frame as f32).sin() * (1.0 + y);
        [x + sign * gap, height + sign * gap, -y]
    }
}

/// The same mesh with its vertices in another order, which `seed` decides; triangles stay in theirs.
///
/// # Panics
/// Never for a mesh whose topology is one.
pub fn renumbered(mesh: &Mesh, seed: u32) -> Mesh {
    let count = mesh.positions.len();
    let mut old: Vec<usize> = (0..count).collect();
    let mut state = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for i in (1..count).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        old.swap(i, (state >> 33) as usize % (i + 1));
    }
    let mut new = vec![0; count];
    for (i, v) in old.iter().enumerate() {
        new[*v] = index32(i);
    }
    let triangles = mesh.topology.triangles().iter();
    let triangles = triangles.map(|t| t.map(|v| new[v as usize])).collect();
    let topology = Topology::new(index32(count), triangles);
    let places = old.iter().map(|v| mesh.positions[*v]).collect();
    let mut out = Mesh::new("", topology.expect("in range"), places);
    out.name.clone_from(&mesh.name);
    let picked = |set: &Vec<[f32; 2]>| old.iter().map(|v| set[*v]).collect();
    out.uvs = mesh.uvs.iter().map(picked).collect();
    for (name, attribute) in &mesh.attributes {
        if let Attribute::Scalar(values) = attribute {
            let picked = old.iter().map(|v| values[*v]).collect();
            out.attributes
                .insert(name.clone(), Attribute::Scalar(picked));
        }
    }
    out
}
