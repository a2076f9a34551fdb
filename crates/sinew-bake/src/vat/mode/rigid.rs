//! Bakes of pieces that move without bending: one texel a piece.

use super::{BakeMode, FrameEncoder, check_quantities, with_needed};
use crate::vat::job::VatJob;
use crate::vat::job::{mesh_of, missing};
use crate::vat::maker::carrier::texel_centers;
use crate::vat::maker::error::{ErrorSum, angle_between};
use crate::vat::maker::rigid::{PiecePose, Pieces, PiecesError};
use crate::vat::maker::rigid_turns::{TurnFollower, UnclearTurn};
use crate::vat::maker::soft::SoftCarrier;
use crate::vat::pictures::{Corners, ShownFrames, source_corners};
use crate::vat::plan::{ModePlan, PiecePlan, Planned, VatPlan, bounds_of, layout_for};
use crate::vat::records::{FrameErrors, POSES, PieceScan, ScanRecord, keep_materials};
use crate::vat::report::{Reported, Row};
use crate::vat::retriangulated::measured_retriangulated;
use crate::vat::settings::{Mode, TextureChoice, VatSettings};
use crate::vat::texels::Encoded;
use crate::vat::textures::texels_of;
use crate::{BakeError, Watch};
use sinew_geom::vec3::distance;
use sinew_geom::{Attribute, Mesh, Topology, index32};
use sinew_vat::layout::Layout;
use sinew_vat::playback::AtEnd;
use sinew_vat::played::PlayedPose;
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::Extent;

/// Share of the diagonal that vertices may be off where nothing else is asked for: little beside what 16 bits lose.
const TOLERANCE: f32 = 2e-5;

pub(crate) struct Rigid;

impl BakeMode for Rigid {
    fn name(&self) -> &'static str {
        "rigid"
    }

    /// At least two pieces that keep their shape, where what is asked for can be told of pieces.
    fn takes(&self, job: &VatJob, scans: &[ScanRecord]) -> bool {
        let settings = job.settings();
        let fits = |scan: &ScanRecord| {
            let pieces = scan.pieces.as_ref();
            pieces.is_some_and(|p| p.count >= 2 && !p.poses.is_empty())
        };
        super::stays(scans)
            && scans.iter().all(fits)
            && check_quantities(self, &self.textures(settings)).is_ok()
            && (!settings.pieces.blend || turns_are_clear(job, scans))
    }

    fn textures(&self, settings: &VatSettings) -> Vec<TextureChoice> {
        with_needed(settings, settings.textures.clone(), Quantity::Rotation)
    }

    fn refuses(&self, quantity: &Quantity) -> Option<&'static str> {
        (!matches!(quantity, Quantity::Position | Quantity::Rotation)).then_some(
            "a texel is a piece, with position and rotation; the rest stays in the carrier",
        )
    }

    fn always_has_positions(&self) -> bool {
        true
    }

    fn plan(
        &self,
        job: &VatJob,
        scans: &[ScanRecord],
        watch: &Watch<'_>,
    ) -> Result<VatPlan, BakeError> {
        let choices = self.textures(job.settings());
        check_quantities(self, &choices)?;
        let first = mesh_of(job, 0)?;
        let number = job.number(0);
        let carrier = carrier_of(job, &first)?;
        if first.topology.triangles().is_empty() {
            return Err(BakeError::NoPieces { number });
        }
        check_rigid(job, &carrier, scans)?;
        let mut follower = TurnFollower::new(carrier.pieces.with_a_turn());
        let mut residual = ErrorSum::default();
        let mut places = Extent::nothing(3);
        let unclear = follow(job, scans, &mut follower, |frame, poses| {
            poses.iter().for_each(|pose| places.take(pose.position));
            job.work.write(POSES, frame, &job.key, &poses)
        })?;
        if let Some((frame, turn)) = unclear.filter(|_| job.settings().pieces.blend) {
            return Err(BakeError::UnclearTurn {
                number: job.number(frame),
                piece: turn.piece,
                degrees: turn.degrees,
            });
        }
        for found in scans.iter().filter_map(|s| s.pieces.as_ref()) {
            residual.join(&found.residual);
        }
        let rotations = Extent::between(-1.0, 1.0, 4);
        let (space, files) = (job.settings().space(), job.settings().files());
        let texture = |c: &TextureChoice| {
            let extent = match c.quantity {
                Quantity::Rotation => &rotations,
                _ => &places,
            };
            files.piece_texture(c, &space.extent(&c.quantity, extent))
        };
        let count = index32(carrier.pieces.count());
        let triangles = carrier.soft.triangles().len();
        Ok(VatPlan {
            hash: String::new(),
            job: job.key.clone(),
            triangles: index32(triangles),
            layout: layout_for(job, count)?,
            space,
            bounds: bounds_of(scans),
            textures: choices.iter().map(texture).collect(),
            empty_slots: 0.0,
            of_mode: ModePlan::Rigid {
                pieces: PiecePlan {
                    count,
                    residual,
                    worst: job.number(residual.frame as usize),
                    largest_turn_degrees: follower.largest_degrees(),
                },
                retriangulated: measured_retriangulated(job, (Mode::Rigid, false), scans, watch)?,
            },
        })
    }

    fn encoder<'a>(&self, of: Planned<'a>) -> Result<Box<dyn FrameEncoder + 'a>, BakeError> {
        Ok(Box::new(RigidFrames::new(of)?))
    }

    fn carrier(&self, of: Planned<'_>) -> Result<Mesh, BakeError> {
        let first = mesh_of(of.job, 0)?;
        let carrier = carrier_of(of.job, &first)?;
        let mut mesh = carrier.mesh(of.job.name(), &first, &of.plan.layout);
        keep_materials(&mut mesh, &first);
        let files = of.job.settings().files();
        Ok(files.piece_carrier(mesh, &carrier.pivots()))
    }

    fn shown<'a>(
        &self,
        of: Planned<'a>,
        carrier: &'a Mesh,
    ) -> Result<Box<dyn ShownFrames + 'a>, BakeError> {
        let frames = RigidFrames::new(of)?;
        Ok(Box::new(ShownPieces { frames, carrier }))
    }

    fn can_blend(&self, settings: &VatSettings) -> bool {
        settings.pieces.blend
    }

    fn exact_way(&self) -> &'static str {
        "--mode soft, which shows quads as each frame has them, or --mode remesh"
    }

    fn why(&self, _of: &Reported<'_>) -> String {
        "all frames have the triangles of the first one, and no piece of it bends".into()
    }

    fn rows(&self, of: &Reported<'_>) -> Vec<Row> {
        let pieces = of.plan.pieces().map(|p| ("Pieces", p.words()));
        let retriangulated = ("Faces cut in two ways", of.retriangulated_words());
        pieces.into_iter().chain([retriangulated]).collect()
    }

    fn why_no_blend(&self) -> &'static str {
        "no: players step, as was asked for"
    }
}

fn carrier_of(job: &VatJob, first: &Mesh) -> Result<RigidCarrier, BakeError> {
    let number = job.number(0);
    let carrier = RigidCarrier::new(first, job.settings());
    carrier.map_err(|source| BakeError::Pieces { number, source })
}

/// The first frame, and which piece each of its vertices belongs to.
pub(crate) struct RigidCarrier {
    pub(crate) soft: SoftCarrier,
    /// Of the carrier's vertices, those at hard edges once for each side.
    pub(crate) pieces: Pieces,
    /// How far vertices may be from where their piece puts them, metres.
    pub(crate) tolerance: f32,
}

impl RigidCarrier {
    pub(crate) fn new(first: &Mesh, settings: &VatSettings) -> Result<Self, PiecesError> {
        let soft = SoftCarrier::new(first, settings.crease());
        let mut mesh = carried(&soft, first);
        let pieces = match &settings.pieces.attribute {
            None => Pieces::connected(&mesh),
            Some(name) => {
                if let Some(Attribute::Scalar(numbers)) = first.attributes.get(name) {
                    let sources = (0..soft.vertex_count()).map(|v| soft.source_vertex(v));
                    let picked = sources.map(|v| numbers[v]).collect();
                    mesh.attributes
                        .insert(name.clone(), Attribute::Scalar(picked));
                }
                Pieces::by_attribute(&mesh, name)?
            }
        };
        let tolerance = settings.pieces.tolerance;
        Ok(Self {
            tolerance: tolerance.unwrap_or_else(|| TOLERANCE * mesh.diagonal()),
            soft,
            pieces,
        })
    }

    /// How the pieces lie in a frame that has the triangles of the first one.
    pub(crate) fn scan(&self, frame: usize, mesh: &Mesh) -> Result<PieceScan, PiecesError> {
        let mesh = carried(&self.soft, mesh);
        let poses = self.pieces.fit(&mesh, &[])?;
        let mut residual = ErrorSum::default();
        let frame = index32(frame);
        for (v, place) in (0..).zip(&mesh.positions) {
            let seen = self.pieces.placed(v as usize, &poses);
            residual.add(
                frame,
                v,
                distance(seen.map(f64::from), place.map(f64::from)),
            );
        }
        let piece = self.pieces.of_vertex(residual.vertex as usize);
        let is_rigid = residual.largest <= f64::from(self.tolerance);
        Ok(PieceScan {
            // Nobody asks for poses that are wrong.
            poses: if is_rigid { poses } else { Vec::new() },
            count: index32(self.pieces.count()),
            piece: index32(piece),
            residual,
        })
    }

    /// The carrier: the first frame, with texture coordinates behind its own that point at the texel of the vertex' piece.
    pub(crate) fn mesh(&self, name: &str, first: &Mesh, layout: &Layout) -> Mesh {
        let mut mesh = self.soft.mesh(name, first, layout);
        let centers = texel_centers(layout.vertices, layout);
        let vertices = 0..self.soft.vertex_count();
        let of_piece = vertices.map(|v| centers[self.pieces.of_vertex(v)]);
        if let Some(last) = mesh.uvs.last_mut() {
            *last = of_piece.collect();
        }
        mesh
    }

    /// Pivots of the carrier's vertices, metres, in the space of glTF.
    pub(crate) fn pivots(&self) -> Vec<[f32; 3]> {
        let vertices = 0..self.soft.vertex_count();
        vertices
            .map(|v| self.pieces.pivot(self.pieces.of_vertex(v)))
            .collect()
    }
}

/// The vertices of a carrier in a frame.
pub(crate) fn carried(soft: &SoftCarrier, frame: &Mesh) -> Mesh {
    let count = index32(soft.vertex_count());
    let places = (0..soft.vertex_count()).map(|v| frame.positions.get(soft.source_vertex(v)));
    // The carrier's own indices are below its count.
    let topology = Topology::new(count, soft.triangles().to_vec()).unwrap_or_default();
    Mesh::new("", topology, places.flatten().copied().collect())
}

fn turns_are_clear(job: &VatJob, scans: &[ScanRecord]) -> bool {
    let Some(pieces) = scans.first().and_then(|s| s.pieces.as_ref()) else {
        return false;
    };
    // Without the frame itself thin pieces are asked, too: then vertices are the safer way.
    let mut follower = TurnFollower::new(vec![true; pieces.count as usize]);
    let unclear = follow(job, scans, &mut follower, |_, _| Ok(()));
    matches!(unclear, Ok(None))
}

/// Hands on the poses of all frames, quaternions next to those of the frame before. Gives the first turn of which the way cannot be told; the way
/// from the last frame of a clip to its first one counts where it is blended.
fn follow(
    job: &VatJob,
    scans: &[ScanRecord],
    follower: &mut TurnFollower,
    mut keep: impl FnMut(usize, Vec<PiecePose>) -> Result<(), BakeError>,
) -> Result<Option<(usize, UnclearTurn)>, BakeError> {
    let poses_of = |frame: usize| Some(scans.get(frame)?.pieces.as_ref()?.poses.clone());
    let mut unclear = None;
    for clip in job.clips() {
        follower.begin_clip();
        for frame in clip.first..clip.first + clip.count {
            let Some(mut poses) = poses_of(frame) else {
                continue;
            };
            let turn = follower.advance(&mut poses);
            unclear = unclear.or(turn.map(|t| (frame, t)));
            keep(frame, poses)?;
        }
        if job.settings().at_end == AtEnd::SeamlessLoop
            && let Some(mut poses) = poses_of(clip.first)
        {
            let turn = follower.advance(&mut poses);
            unclear = unclear.or(turn.map(|t| (clip.first, t)));
        }
    }
    Ok(unclear)
}

/// All frames have the triangles of the first one, and their pieces its shape.
fn check_rigid(
    job: &VatJob,
    carrier: &RigidCarrier,
    scans: &[ScanRecord],
) -> Result<(), BakeError> {
    for (frame, scan) in scans.iter().enumerate() {
        let number = job.number(frame);
        if !scan.is_first_surface {
            let checked = carrier.soft.check(&mesh_of(job, frame)?);
            checked.map_err(|source| BakeError::NotSoft { number, source })?;
        }
        match &scan.pieces {
            Some(found) if found.poses.is_empty() => {
                return Err(BakeError::NotRigid {
                    number,
                    piece: found.piece,
                    millimetres: found.residual.largest * 1e3,
                    allowed: f64::from(carrier.tolerance) * 1e3,
                });
            }
            Some(_) => {}
            None => return Err(missing(job, &[frame], "poses of pieces", "scan")),
        }
    }
    Ok(())
}

/// What makes the texels of frames, and reads them.
struct RigidFrames<'a> {
    of: Planned<'a>,
    carrier: RigidCarrier,
    /// Pivots as they come back from the texels of the first frame, metres of glTF.
    pivots: Vec<[f32; 3]>,
    /// Normals and places of the carrier's vertices.
    normals: Vec<[f32; 3]>,
    rest: Vec<[f32; 3]>,
}

impl<'a> RigidFrames<'a> {
    fn new(of: Planned<'a>) -> Result<Self, BakeError> {
        let first = mesh_of(of.job, 0)?;
        let number = of.job.number(0);
        let carrier = carrier_of(of.job, &first)?;
        let normals = carrier.soft.normals(&first);
        let places = of
            .plan
            .textures
            .iter()
            .filter(|t| t.quantity == Quantity::Position);
        let pivots = match of.job.settings().files().carries_pivots() {
            true => (0..carrier.pieces.count())
                .map(|piece| carrier.pieces.pivot(piece))
                .collect(),
            false => places
                .flat_map(|spec| carrier.pieces.stored_pivots(spec, of.plan.space))
                .collect(),
        };
        Ok(Self {
            of,
            pivots,
            normals: normals.map_err(|source| BakeError::NotSoft { number, source })?,
            rest: carried(&carrier.soft, &first).positions,
            carrier,
        })
    }

    /// How the pieces lie about the pivots that players know.
    fn poses(&self, frame: usize) -> Result<Vec<PiecePose>, BakeError> {
        let job = self.of.job;
        let poses: Option<Vec<PiecePose>> = job.work.read(POSES, frame, &job.key)?;
        let poses = poses.ok_or_else(|| missing(job, &[frame], "poses", "plan"))?;
        Ok(self.carrier.pieces.about(&self.pivots, &poses))
    }

    fn measure(
        &self,
        frame: usize,
        texels: &[Vec<u8>],
        mesh: &Mesh,
        normals: &[[f32; 3]],
    ) -> FrameErrors {
        let shown = self.decoded(texels);
        let mut out = FrameErrors::default();
        for (v, (place, seen)) in shown.places.iter().zip(&shown.normals).enumerate() {
            let truth = mesh.positions[self.carrier.soft.source_vertex(v)];
            let off = distance(*place, truth.map(f64::from));
            out.position.add(frame as u32, v as u32, off);
            let angle = angle_between(*seen, normals[v]);
            out.normal.add(frame as u32, v as u32, angle);
        }
        out
    }

    /// The carrier as players show it by the texels of a frame, metres of glTF.
    fn decoded(&self, texels: &[Vec<u8>]) -> ShownVertices {
        let pose = |piece: usize| {
            let pivot = self.pivots[piece].map(f64::from);
            played(&decode(self.of, texels, piece), pivot)
        };
        let poses: Vec<PlayedPose> = (0..self.pivots.len()).map(pose).collect();
        let of_vertex = |v: usize| &poses[self.carrier.pieces.of_vertex(v)];
        let places = self.rest.iter().enumerate();
        let normals = self.normals.iter().enumerate();
        ShownVertices {
            places: places.map(|(v, rest)| of_vertex(v).place(*rest)).collect(),
            normals: normals
                .map(|(v, n)| of_vertex(v).turn(n.map(f64::from)).map(|c| c as f32))
                .collect(),
        }
    }

    fn shown(&self, frame: usize) -> Result<ShownVertices, BakeError> {
        Ok(self.decoded(&texels_of(self.of, frame)?))
    }
}

impl FrameEncoder for RigidFrames<'_> {
    fn frame(&self, frame: usize, mut mesh: Mesh) -> Result<Encoded, BakeError> {
        let Planned { job, plan } = self.of;
        let poses = self.poses(frame)?;
        let files = job.settings().files();
        let next = match files.carries_pivots() && job.settings().pieces.blend {
            // Players of other tools loop.
            true => Some(self.poses((frame + 1) % job.frame_count())?),
            false => None,
        };
        let encoded = files.encode_pieces(&poses, next.as_deref(), &plan.textures, plan.space);
        let number = job.number(frame);
        let fault = |source| BakeError::NotSoft { number, source };
        self.carrier.soft.adopt(&mut mesh).map_err(fault)?;
        let normals = self.carrier.soft.normals(&mesh).map_err(fault)?;
        let errors = self.measure(frame, &encoded, &mesh, &normals);
        Ok((encoded, errors))
    }
}

/// Vertices of the carrier in a frame.
struct ShownVertices {
    places: Vec<[f64; 3]>,
    normals: Vec<[f32; 3]>,
}

/// What a bake of pieces shows.
struct ShownPieces<'a> {
    frames: RigidFrames<'a>,
    carrier: &'a Mesh,
}

impl ShownFrames for ShownPieces<'_> {
    fn both(&self, frame: usize) -> Result<[Corners; 2], BakeError> {
        let job = self.frames.of.job;
        let shown = self.frames.shown(frame)?;
        // Pieces have the colours of the carrier in all frames.
        let colors = self.carrier.colors.first();
        let mut baked = Corners::default();
        let triangles = self.frames.carrier.soft.triangles().iter();
        for vertex in triangles.flatten().map(|v| *v as usize) {
            baked.places.push(shown.places[vertex].map(|c| c as f32));
            baked.normals.push(shown.normals[vertex]);
            baked.colors.extend(colors.map(|c| c[vertex]));
        }
        let crease = job.settings().crease();
        let source = source_corners(&mesh_of(job, frame)?, crease, colors.is_some());
        Ok([source, baked])
    }

    fn place_of(&self, frame: usize, vertex: usize) -> Result<Option<[f32; 3]>, BakeError> {
        let shown = self.frames.shown(frame)?;
        Ok(shown.places.get(vertex).map(|p| p.map(|c| c as f32)))
    }

    fn piece_of(&self, vertex: usize) -> Option<usize> {
        self.frames.carrier.pieces.find_vertex(vertex)
    }
}

/// How a piece lies in the space of glTF.
fn decode(of: Planned<'_>, texels: &[Vec<u8>], piece: usize) -> PiecePose {
    let (mut position, mut rotation) = ([0.0; 4], [0.0, 0.0, 0.0, 1.0]);
    for (spec, bytes) in of.plan.textures.iter().zip(texels) {
        let size = spec.vertex_bytes();
        let texel = &bytes[piece * size..(piece + 1) * size];
        let numbers = match spec.quantity {
            Quantity::Rotation => &mut rotation,
            _ => &mut position,
        };
        for (k, number) in numbers.iter_mut().enumerate().take(spec.ranges.len()) {
            *number = spec.decode(texel, k);
        }
    }
    let files = of.job.settings().files();
    files.seen_pose(position, rotation, of.plan.space)
}

pub(crate) fn played(pose: &PiecePose, pivot: [f64; 3]) -> PlayedPose {
    let rotation = pose.rotation.map(f64::from);
    let length = rotation.iter().map(|c| c * c).sum::<f64>().sqrt();
    PlayedPose {
        pivot,
        position: pose.position.map(f64::from),
        rotation: match length > 1e-6 {
            true => rotation.map(|c| c / length),
            false => [0.0, 0.0, 0.0, 1.0],
        },
    }
}
