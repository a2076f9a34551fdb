//! Triangles that change, in the files of `SideFX` Labs ("dynamic remeshing"), played by the published formulas.

use super::*;

/// The winding tube with fewer triangles in each frame, which are counted from another one on.
fn shrinking(frame: usize) -> Mesh {
    let mut mesh = tube(frame);
    let mut triangles = mesh.topology.triangles().to_vec();
    triangles.rotate_left(11 * frame);
    triangles.truncate(90 - 13 * frame);
    mesh.topology = Topology::new(50, triangles).expect("in range").into();
    mesh
}

fn frames() -> MeshFrames {
    MeshFrames::new("tube", (0..FRAMES).map(shrinking).collect())
}

/// What a bake is played from.
struct Played {
    low: [f32; 3],
    high: [f32; 3],
    is_float: bool,
    lookup: Picture,
    position: Picture,
    second: Option<Picture>,
    rotation: Option<Picture>,
    color: Option<Picture>,
    mesh: Mesh,
}

impl Played {
    fn read(out: &Path) -> Self {
        let file = |suffix: &str| out.join(format!("tube_{suffix}"));
        let text = std::fs::read_to_string(file("data.json")).expect("there");
        let ends =
            |end: &str| ["X", "Y", "Z"].map(|a| number(&text, &format!("\"Bound {end} {a}\": ")));
        let (low, high) = (ends("Min"), ends("Max"));
        assert_eq!(number(&text, "\"Frame Count\": "), FRAMES as f32);
        let fract = |v: f32| v - v.floor();
        assert_eq!(fract(-10.0 * high[0]), 0.0, "nothing is padded below");
        assert_eq!((10.0 * low[2]).ceil() - 10.0 * low[2], 0.0, "nor beside");
        assert!(fract(-10.0 * low[0]) < 0.5, "the lookup holds no floats");
        let is_float = fract(10.0 * high[2]) >= 0.5;
        let ending = if is_float { "exr" } else { "png" };
        let picture = |suffix: &str| {
            let path = file(&format!("{suffix}.{ending}"));
            path.exists().then(|| Picture::read(&path))
        };
        Self {
            low,
            high,
            is_float,
            lookup: Picture::read(&file("lookup.png")),
            position: picture("pos").expect("positions"),
            second: picture("pos2"),
            rotation: picture("rot"),
            color: picture("col"),
            mesh: mesh_in(&file("mesh.glb")),
        }
    }

    /// Where the textures have the point of a vertex; `v` from the bottom.
    fn address(&self, vertex: usize, frame: usize) -> [f64; 2] {
        let [u, down] = self.mesh.uvs[0][vertex].map(f64::from);
        let bottom = 1.0 - down;
        assert!(bottom > 0.1, "shaders hide what is below");
        let at = 1.0 - ((1.0 - bottom) + frame as f64 / FRAMES as f64);
        let [r, g, b, a] = self.lookup.at(u, at)[..] else {
            panic!("four channels")
        };
        [r + g / 255.0, 1.0 - (b + a / 255.0)].map(f64::from)
    }

    fn place(&self, [u, v]: [f64; 2]) -> [f32; 3] {
        let texel = self.position.at(u, v);
        let second = self.second.as_ref().map(|s| s.at(u, v));
        std::array::from_fn(|c| {
            let value = texel[c] + second.as_ref().map_or(0.0, |s| 0.01 * s[c]);
            match self.is_float {
                true => value,
                false => value * (self.high[c] - self.low[c]) + self.low[c],
            }
        })
    }

    fn normal(&self, [u, v]: [f64; 2], space: Space) -> [f32; 3] {
        let up = match space {
            Space::YUpRightHanded | Space::YUpLeftHanded => 1,
            Space::ZUpRightHanded | Space::ZUpLeftHandedCentimeters => 2,
        };
        let Some(rotation) = &self.rotation else {
            return decompressed(self.position.at(u, v)[3], up);
        };
        let texel = rotation.at(u, v).into_iter();
        let q: Vec<f32> = texel
            .map(|c| if self.is_float { c } else { 2.0 * c - 1.0 })
            .collect();
        let mut pole = [0.0; 3];
        pole[up] = 1.0;
        rotated(&q, pole)
    }
}

fn shown_by_players(settings: &VatSettings, allowed: f32, degrees: f64) {
    let (folders, summary) = baked(&frames(), settings);
    assert_eq!(summary.plan.mode(), Mode::Remesh);
    let played = Played::read(&folders.out());
    let carrier = played.mesh.topology.triangles();
    assert_eq!(carrier.len(), 90, "as many as the fullest frame has");
    let (space, unit) = (settings.space, settings.space.units_per_metre());
    for frame in 0..FRAMES {
        let truth = shrinking(frame);
        let normals = corner_normals(&truth.topology, &truth.positions, settings.crease());
        let triangles = truth.topology.triangles();
        for (t, corners) in carrier.iter().enumerate() {
            let at = corners.map(|v| played.address(v as usize, frame));
            let Some(source) = triangles.get(t) else {
                assert!(at == [at[0]; 3], "triangles that are not there are a point");
                continue;
            };
            for k in 0..3 {
                let (seen, v) = (played.place(at[k]), source[k] as usize);
                let expected = in_engine(space, truth.positions[v]);
                let off = distance(seen, expected) / unit;
                assert!(off < allowed, "{space:?}, {frame}: {seen:?} {expected:?}");
                let expected = in_engine(space, normals[t][k]);
                let angle = angle_between(played.normal(at[k], space), expected);
                assert!(angle.to_degrees() < degrees, "{space:?}, {frame}: {angle}");
                if let Some(color) = &played.color {
                    let seen = color.at(at[k][0], at[k][1])[0];
                    assert!((seen - truth.colors[0][v][0]).abs() < 0.51 / 255.0);
                }
            }
        }
    }
    // Nothing is lost that the bake did not say.
    assert!(f64::from(allowed) > summary.errors.position.largest);
    assert!(degrees > summary.errors.normal.largest.to_degrees());
    assert!(summary.errors.normal.largest > 0.0);
}

#[test]
fn sidefx_players_show_triangles_that_change() {
    for space in SPACES {
        let halves = VatSettings {
            space,
            ..like_sidefx(false)
        };
        // Two metres in halves.
        shown_by_players(&halves, 1.2e-3, 0.1);
        let exact = VatSettings {
            textures: vec![
                choice(Quantity::Position, TexelFormat::Float),
                choice(Quantity::Normal, TexelFormat::Float),
            ],
            ..halves.clone()
        };
        shown_by_players(&exact, 1e-6, 1e-3);
        let codes = VatSettings {
            textures: vec![
                choice(Quantity::Position, TexelFormat::TwoUnorm8),
                choice(Quantity::Normal, TexelFormat::Unorm8),
                choice(Quantity::Color(0), TexelFormat::Unorm8),
            ],
            // A frame of the lookup and one of the points have several rows.
            largest_side: 64,
            ..halves.clone()
        };
        shown_by_players(&codes, 2e-4, 1.0);
        let compressed = VatSettings {
            convention: like_sidefx(true).convention,
            ..exact
        };
        shown_by_players(&compressed, 1e-6, 11.9);
    }
}

#[test]
fn points_are_fewer_than_corners_and_files_have_their_names() {
    let settings = VatSettings {
        crease_degrees: 180.0,
        ..like_sidefx(false)
    };
    let (folders, summary) = baked(&frames(), &settings);
    let points = summary.plan.points().expect("unique points");
    // A smooth tube of 50 vertices, each of them one point; and one for triangles that are not there.
    assert!(points.layout.vertices <= 51, "{points:?}");
    let suffixes = ["data.json", "lookup.png", "mesh.glb", "pos.exr", "rot.exr"];
    let names = beside_report(&folders.out(), "tube");
    assert_eq!(names, suffixes.map(|s| format!("tube_{s}")));
    // Players step, triangles are in the order of the files, and a texel of the lookup is four bytes.
    let page = folders.report();
    for words in [
        "no: frames are unrelated, players step",
        "as in the file",
        "tube_lookup.png, tube_mesh.glb",
    ] {
        assert!(page.contains(words), "no `{words}`");
    }
    let begin = page.find("<td>lookup</td>").expect("a row of the lookup");
    let row = page[begin..].split("</tr>").next().expect("its end");
    let cells: Vec<&str> = row
        .split(['<', '>'])
        .filter(|s| s.len() < 20 && !s.contains("td") && !s.is_empty())
        .collect();
    assert_eq!(cells[2], "4", "{row}");
}
