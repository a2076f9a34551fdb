//! Kinds of hair that have names, grown on a head.

use sinew::deform::BindWatch;
use sinew::geom::{GrowAmount, Mesh, Vec3};
use sinew::hair::{GrowRequest, HAIR_STYLES, HairStyle, grow_hair};
use sinew::play::Character;

/// Cells of a grid over the largest two sides of the head, along each.
const ACROSS: usize = 128;
/// Strands that are compared with each.
const NEIGHBOURS: usize = 12;
/// No strand is alone: one of those next to it goes the same way, within this angle in degrees.
const ALONE: f64 = 60.0;
/// Angle between segments that follow each other, degrees: no more than this.
const SHARPEST: f64 = 80.0;

type V = Vec3<f64>;

fn vector(p: [f32; 3]) -> V {
    V::from(p.map(f64::from))
}

/// How often a closed surface goes around a point, by the triangles that a ray along +x crosses: 0 outside.
struct Inside {
    triangles: Vec<[V; 3]>,
    low: V,
    size: V,
    cells: Vec<Vec<usize>>,
}

impl Inside {
    fn new(mesh: &Mesh) -> Self {
        let corners = |t: &[u32; 3]| t.map(|v| vector(mesh.positions[v as usize]));
        let triangles: Vec<[V; 3]> = mesh.topology.triangles().iter().map(corners).collect();
        let all = || triangles.iter().flatten().copied();
        let low = all().reduce(|a, b| a.inf(&b)).expect("triangles");
        let high = all().reduce(|a, b| a.sup(&b)).expect("triangles");
        let mut this = Self {
            size: (high - low) / ACROSS as f64 * 1.0001,
            triangles: Vec::new(),
            low,
            cells: vec![Vec::new(); ACROSS * ACROSS],
        };
        for (i, t) in triangles.iter().enumerate() {
            let [a, b] = [
                this.cell(t[0].inf(&t[1]).inf(&t[2])),
                this.cell(t[0].sup(&t[1]).sup(&t[2])),
            ];
            for y in a[0]..=b[0] {
                (a[1]..=b[1]).for_each(|z| this.cells[y * ACROSS + z].push(i));
            }
        }
        this.triangles = triangles;
        this
    }

    fn cell(&self, p: V) -> [usize; 2] {
        let at = (p - self.low).component_div(&self.size);
        [at.y, at.z].map(|c| (c.max(0.0) as usize).min(ACROSS - 1))
    }

    fn turns(&self, p: V) -> i32 {
        // Off the vertices, which have round coordinates.
        let p = p + V::new(0.0, 1.1e-7, 1.7e-7);
        let [y, z] = self.cell(p);
        let near = &self.cells[y * ACROSS + z];
        near.iter().map(|&i| crossed(p, &self.triangles[i])).sum()
    }
}

/// 1 or -1 if the ray from `p` along +x leaves or enters through the triangle.
fn crossed(p: V, t: &[V; 3]) -> i32 {
    let area = |a: V, b: V| (b.y - a.y) * (p.z - a.z) - (b.z - a.z) * (p.y - a.y);
    let [c, a, b] = [area(t[0], t[1]), area(t[1], t[2]), area(t[2], t[0])];
    let sides = [a, b, c].map(f64::signum);
    if sides[0] != sides[1] || sides[1] != sides[2] {
        return 0;
    }
    let x = (a * t[0].x + b * t[1].x + c * t[2].x) / (a + b + c);
    if x > p.x { sides[0] as i32 } else { 0 }
}

fn points(hair: &Mesh) -> Vec<Vec<V>> {
    let strands = hair.topology.strands().expect("strands");
    let points = |r: std::ops::Range<usize>| hair.positions[r].iter().map(|p| vector(*p)).collect();
    strands.ranges().map(points).collect()
}

fn steps(strand: &[V]) -> Vec<V> {
    strand.windows(2).map(|w| w[1] - w[0]).collect()
}

fn grown(
    style: &HairStyle,
    character: &Character,
    clearance: Option<f32>,
    strands: usize,
) -> Vec<Vec<V>> {
    let mut request = GrowRequest::default();
    request.settings = style.settings();
    request.settings.amount = GrowAmount::Strands(strands);
    request.clearance = clearance;
    assert!(
        style.complete(&mut request, character).expect("a head"),
        "it grows on the scalp"
    );
    let hair = grow_hair(character, &request, &BindWatch::default()).expect("grows");
    points(&hair)
}

/// All kinds of hair stay outside the head, have no kinks, and no strand leaves the others.
#[test]
fn styles_grow_hair_that_lies_around_the_head() {
    let character = Character::from_asset(sinew_samples::head().expect("a head"));
    let mesh = &character.asset.meshes[0];
    let head = Inside::new(mesh);
    let centre = V::new(0.0, 0.3, 0.0);
    assert_eq!(
        [head.turns(centre), head.turns(centre * 3.0)],
        [1, 0],
        "the test sees the head"
    );
    for style in HAIR_STYLES {
        let name = style.name;
        let hair = grown(style, &character, Some(0.002), 3000);
        for strand in &hair {
            for p in &strand[1..] {
                assert_eq!(head.turns(*p), 0, "{name}: {p:?} is inside the head");
            }
            let sharpest = sharpest(strand);
            assert!(
                sharpest < SHARPEST,
                "{name}: {sharpest} degrees from {:?}",
                strand[0]
            );
        }
        for (i, alone) in alone(&hair).into_iter().enumerate() {
            assert!(
                alone < ALONE,
                "{name}: {alone} degrees from all others at {:?}",
                hair[i][0]
            );
        }
    }
}

/// Strands are as long around the head as without it: half of them to 1e-4. Lengths are sums of chords, and the chords of curls and of
/// bends along the skin are up to 6 % shorter than the curve.
#[test]
fn styles_keep_their_lengths_around_the_head() {
    let character = Character::from_asset(sinew_samples::head().expect("a head"));
    let length = |s: &Vec<V>| steps(s).iter().map(V::norm).sum::<f64>();
    for style in HAIR_STYLES {
        let lengths = |clearance| {
            let hair = grown(style, &character, clearance, 3000);
            hair.iter().map(length).collect::<Vec<_>>()
        };
        let (around, free) = (lengths(Some(0.002)), lengths(None));
        let mut lost: Vec<f64> = around.iter().zip(&free).map(|(a, b)| 1.0 - a / b).collect();
        lost.sort_by(f64::total_cmp);
        let [least, middle, most] = [lost[0], lost[lost.len() / 2], lost[lost.len() - 1]];
        let said = format!("{}: {least} to {most}, half {middle}", style.name);
        assert!(
            middle.abs() < 1e-4 && least > -0.005 && most < 0.06,
            "{said}"
        );
    }
}

/// Largest angle between segments that follow each other, degrees.
fn sharpest(strand: &[V]) -> f64 {
    let all = steps(strand);
    let turns = all.windows(2).map(|w| w[0].angle(&w[1]).to_degrees());
    turns.fold(0.0, f64::max)
}

/// For each strand, the least angle in degrees between its direction, from root to tip, and that of one of those that grow next to it.
fn alone(hair: &[Vec<V>]) -> Vec<f64> {
    let way = |s: &Vec<V>| s[s.len() - 1] - s[0];
    let of = |strand: &Vec<V>| {
        let apart = |o: &&Vec<V>| (o[0] - strand[0]).norm();
        let mut others: Vec<&Vec<V>> = hair.iter().filter(|o| o[0] != strand[0]).collect();
        others.select_nth_unstable_by(NEIGHBOURS, |a, b| apart(a).total_cmp(&apart(b)));
        let near = others[..NEIGHBOURS].iter();
        near.map(|o| way(o).angle(&way(strand)).to_degrees())
            .fold(f64::INFINITY, f64::min)
    };
    hair.iter().map(of).collect()
}
