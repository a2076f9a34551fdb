//! `NAME.report.html`: what a bake came to, for people. Nothing in it depends on when, where or in how many chunks the bake was made.

use super::assemble::{Summary, lookup_bytes};
use super::job::VatJob;
use super::pictures::{ShownFrames, pairs};
use super::plan::RetriangulatedPlan;
use super::plan::{Planned, VatPlan};
use super::quantities::shown_loss;
use super::records::{FrameErrors, ScanRecord};
use crate::BakeError;
use crate::report::{Page, Plot, Series, data_uri, escaped, grouped};
use crate::vat::maker::error::ErrorSum;
use crate::vat::maker::matching::SurfaceDistance;
use crate::vat::maker::prepare::PrepareReport;
use crate::vat::maker::prepare::relax::RelaxReport;
use sinew_geom::{Image, Mesh};
use sinew_vat::manifest::Manifest;

/// Letters of the settings that are shown; surfaces in them may have millions.
const MOST_SETTINGS: usize = 20_000;

/// What a line of a table is about, and what it says.
pub(crate) type Row = (&'static str, String);

/// All that is told.
pub(crate) struct Reported<'a> {
    pub(crate) job: &'a VatJob,
    pub(crate) plan: &'a VatPlan,
    pub(crate) scans: &'a [ScanRecord],
    /// Of each frame.
    pub(crate) errors: &'a [FrameErrors],
    pub(crate) summary: &'a Summary,
    pub(crate) manifest: &'a Manifest,
    /// Its vertices are in the order of the texels.
    pub(crate) carrier: &'a Mesh,
    /// Names of files of which the manifest says nothing.
    pub(crate) files: &'a [String],
}

/// The page of a bake.
pub(crate) fn report(of: &Reported<'_>) -> Result<String, BakeError> {
    let mut page = Page::new(&format!("Bake {}", of.job.name()), of.job.sequence());
    let shown = of.plan.steps().shown(of.planned(), of.carrier)?;
    of.bake(&mut page);
    of.textures(&mut page);
    of.errors(&mut page, &*shown)?;
    of.counts(&mut page);
    of.preparation(&mut page);
    of.warnings(&mut page);
    of.pictures(&mut page, &*shown)?;
    of.settings(&mut page);
    Ok(page.finish())
}

impl Reported<'_> {
    fn planned(&self) -> Planned<'_> {
        Planned {
            job: self.job,
            plan: self.plan,
        }
    }

    fn bake(&self, page: &mut Page) {
        let numbers = self.numbers();
        let frames = match (numbers.first(), numbers.last()) {
            (Some(first), Some(last)) => format!("{}, {first} to {last}", numbers.len()),
            _ => "none".into(),
        };
        let [low, high] = [self.plan.bounds.0, self.plan.bounds.1].map(place_words);
        let mut rows = vec![
            ("Mode", format!("{}: {}", self.mode_word(), self.why_mode())),
            ("Frames", frames),
            ("Clips", self.clips()),
            (
                "Carrier",
                format!(
                    "{} triangles, {} vertices; {}{}",
                    grouped(self.plan.triangles.into()),
                    grouped(self.carrier.positions.len() as u64),
                    self.manifest.carrier,
                    self.tear_words(),
                ),
            ),
        ];
        let mode = self.plan.steps();
        rows.extend(mode.rows(self));
        rows.push(("Box", format!("{low} to {high} m")));
        let order = mode.order(self.job.settings());
        rows.extend(order.map(|words| ("Order of triangles", words.into())));
        rows.push(("Blending of frames", self.blend_words().into()));
        if !self.files.is_empty() {
            rows.push(("Files", self.files.join(", ")));
        }
        page.pairs(&rows);
    }

    fn numbers(&self) -> Vec<i64> {
        (0..self.job.frame_count())
            .map(|f| self.job.number(f))
            .collect()
    }

    /// What plots count by: numbers of frames, or rows of the bake where clips begin anew.
    fn axis(&self) -> Vec<i64> {
        let numbers = self.numbers();
        match numbers.is_sorted_by(|a, b| a < b) {
            true => numbers,
            false => (0..).take(numbers.len()).collect(),
        }
    }

    fn tear_words(&self) -> String {
        let words = self.plan.tears().map(|t| format!("; {}", t.words()));
        words.unwrap_or_default()
    }

    /// Of faces that frames cut into other triangles than the first one.
    pub(crate) fn retriangulated_words(&self) -> String {
        let words = self.plan.retriangulated().map(RetriangulatedPlan::words);
        words.unwrap_or_else(|| "none".into())
    }

    fn mode_word(&self) -> String {
        self.plan.steps().name().into()
    }

    fn why_mode(&self) -> String {
        if self.job.settings().mode.is_some() {
            return "asked for".into();
        }
        self.plan.steps().why(self)
    }

    fn clips(&self) -> String {
        let words = self.manifest.clips.iter().map(|clip| {
            let f = &clip.frames;
            let (last, rate) = (f.first + f.count - 1, f.frames_per_second);
            let end = name_of(&f.at_end);
            format!(
                "{}: frames {} to {last} of the bake, {rate} a second, {end}",
                clip.name, f.first
            )
        });
        words.collect::<Vec<_>>().join("; ")
    }

    fn blend_words(&self) -> &'static str {
        match self.manifest.can_blend {
            true if self.manifest.has_ends => {
                "yes, closed: each frame is two of the textures, itself and its end"
            }
            true => "yes",
            false => self.plan.steps().why_no_blend(),
        }
    }

    fn textures(&self, page: &mut Page) {
        let layout = &self.plan.layout;
        let [width, height] = layout.size;
        let used = u64::from(layout.vertices) * u64::from(layout.frames);
        let unused = layout.texels() - used.min(layout.texels());
        page.section("Textures");
        let mut rows = vec![
            ("Size", format!("{width} x {height} texels")),
            (
                "Texels used",
                format!("{} of {}", grouped(used), grouped(layout.texels())),
            ),
            (
                "Texels unused",
                format!("{} ({})", grouped(unused), percent(layout.waste())),
            ),
        ];
        let empty = percent(self.plan.empty_slots);
        let name = self.plan.steps().empty_slots();
        rows.extend(name.map(|name| (name, empty)));
        let memory = format!(
            "{} bytes in all textures",
            grouped(self.summary.texture_bytes)
        );
        rows.push(("Memory", memory));
        page.pairs(&rows);
        let rows = self.manifest.textures.iter().map(|texture| {
            let spec = &texture.spec;
            let bytes = self.plan.texture_layout().texels() * spec.vertex_bytes() as u64;
            vec![
                spec.quantity.file_name(),
                name_of(&spec.format),
                spec.ranges.len().to_string(),
                grouped(bytes),
                texture.files.join(", "),
            ]
        });
        let mut rows: Vec<Vec<String>> = rows.collect();
        rows.extend(self.lookup_row());
        let heads = ["holds", "format", "channels", "bytes", "files"];
        page.table(&heads, &rows);
        self.points(page);
    }

    fn lookup_row(&self) -> Option<Vec<String>> {
        let lookup = self.manifest.lookup.as_ref()?;
        Some(vec![
            "lookup".into(),
            "unorm8".into(),
            self.job.settings().files().lookup_bytes().to_string(),
            grouped(lookup_bytes(self.planned())),
            lookup.file.clone(),
        ])
    }

    /// Where unique points have the texels: how many there are, and what that saves.
    fn points(&self, page: &mut Page) {
        let Some(points) = self.plan.points() else {
            return;
        };
        let [width, height] = points.layout.size;
        let triangles: u64 = self.scans.iter().map(|s| u64::from(s.triangles)).sum();
        let each = self.summary.texture_bytes as f64 / triangles.max(1) as f64;
        page.paragraph(
            "A texel of the textures is a point; which point a corner shows is in the lookup, whose size is given above.",
        );
        page.pairs(&[
            (
                "Points",
                format!(
                    "{} in a frame at most",
                    grouped(points.layout.vertices.into())
                ),
            ),
            (
                "Size of their textures",
                format!("{width} x {height} texels"),
            ),
            ("Texels unused in them", percent(points.unused_texels())),
            ("Bytes for each triangle of a frame", format!("{each:.1}")),
            (
                "With a texel for each corner",
                format!(
                    "{} bytes in all textures",
                    grouped(self.plan.corner_bytes())
                ),
            ),
        ]);
    }

    fn errors(&self, page: &mut Page, shown: &dyn ShownFrames) -> Result<(), BakeError> {
        page.section("What the formats lose");
        let (position, normal) = (&self.summary.errors.position, &self.summary.errors.normal);
        let mut rows = Vec::new();
        let millimetres = |metres: f64| format!("{:.4} mm", metres * 1e3);
        let degrees = |radians: f64| format!("{:.3}°", radians.to_degrees());
        if position.samples() > 0 {
            rows.push(self.error_row("positions", position, millimetres, shown)?);
        }
        let (read, frame) = self.summary.read_loss;
        if shown_loss(read) > 0.0 {
            // What the others are measured from is what was read.
            let name = "positions, when files were read (adds to that)";
            let none = String::new();
            let row = [
                name.into(),
                millimetres(read),
                none.clone(),
                frame.to_string(),
                none.clone(),
                none,
            ];
            rows.push(row.into());
        }
        if normal.samples() > 0 {
            rows.push(self.error_row("normals", normal, degrees, shown)?);
        }
        let errors = &self.summary.errors;
        let (places, directions) = (&errors.end_position, &errors.end_normal);
        if places.samples() > 0 {
            rows.push(self.error_row("places where blends end", places, millimetres, shown)?);
        }
        if directions.samples() > 0 {
            rows.push(self.error_row("normals where blends end", directions, degrees, shown)?);
        }
        let texel = self.plan.steps().texel_word();
        let heads = ["", "largest", "RMS", "frame", texel, "at, metres"];
        page.table(&heads, &rows);
        let line = |name, of: &dyn Fn(&FrameErrors) -> f64| Series {
            name,
            values: self.errors.iter().map(of).collect(),
        };
        let frames = self.axis();
        let plot = |title, series| Plot {
            title,
            frames: &frames,
            series,
        };
        let places = vec![
            line("largest", &|e| e.position.largest * 1e3),
            line("RMS", &|e| e.position.rms() * 1e3),
        ];
        let directions = vec![
            line("largest", &|e| e.normal.largest.to_degrees()),
            line("RMS", &|e| e.normal.rms().to_degrees()),
        ];
        if position.samples() > 0 {
            page.html(&plot("Position error per frame, mm", places).svg());
        }
        if normal.samples() > 0 {
            page.html(&plot("Normal error per frame, degrees", directions).svg());
        }
        Ok(())
    }

    fn error_row(
        &self,
        what: &str,
        sum: &ErrorSum,
        unit: impl Fn(f64) -> String,
        shown: &dyn ShownFrames,
    ) -> Result<Vec<String>, BakeError> {
        let (frame, vertex) = (sum.frame as usize, sum.vertex as usize);
        let place = shown.place_of(frame, vertex)?;
        let piece = shown.piece_of(vertex);
        let words = piece.map(|piece| format!("{vertex} (of piece {piece})"));
        Ok(vec![
            what.into(),
            unit(sum.largest),
            unit(sum.rms()),
            self.job.number(frame).to_string(),
            words.unwrap_or_else(|| self.plan.steps().vertex_words(vertex)),
            place.map_or_else(String::new, place_words),
        ])
    }

    /// How many triangles frames have, of particles how many points.
    fn counts(&self, page: &mut Page) {
        let is_points = self.plan.steps().is_points();
        let (heading, title) = match is_points {
            true => ("Points", "Points per frame"),
            false => ("Triangles", "Triangles per frame"),
        };
        page.section(heading);
        let count = |s: &ScanRecord| if is_points { s.vertices } else { s.triangles };
        let counts = || self.scans.iter().map(count);
        let (fewest, most) = (
            counts().min().unwrap_or_default(),
            counts().max().unwrap_or_default(),
        );
        let sum: u64 = counts().map(u64::from).sum();
        let mean = sum as f64 / self.scans.len().max(1) as f64;
        page.paragraph(&format!(
            "{} to {} in a frame, {mean:.1} in the mean.",
            grouped(fewest.into()),
            grouped(most.into())
        ));
        let frames = self.axis();
        let plot = Plot {
            title,
            frames: &frames,
            series: vec![Series {
                name: "",
                values: counts().map(f64::from).collect(),
            }],
        };
        page.html(&plot.svg());
    }

    /// What steps did that remove nothing: relaxing and flips of edges.
    fn moves(&self) -> Vec<String> {
        let reports = self.scans.iter().map(|s| &s.report);
        let relaxed = |of: fn(&PrepareReport) -> Option<&RelaxReport>, when: &str| {
            let moves = reports.clone().filter_map(|r| Some(of(r)?.largest_move));
            let largest = moves.reduce(f64::max)?;
            Some(format!(
                "Relaxed {when} simplifying: vertices went {:.3} mm at most.",
                largest * 1e3
            ))
        };
        let simplified = reports.clone().filter_map(|r| r.simplify.as_ref());
        let flips: usize = simplified.clone().map(|s| s.flips).sum();
        let farthest = simplified.clone().map(|s| s.largest_flip);
        let farthest = farthest.fold(0.0, f64::max);
        let stand_ins = simplified.map(|s| s.stand_ins).max().unwrap_or(0);
        let kept = format!(
            "Of pieces that simplifying would have left nothing of, {} in a frame at most, a tetrahedron or a triangle stays.",
            grouped(stand_ins as u64)
        );
        let flipped = format!(
            "{} edges were flipped so that triangles are no slivers, which moved the surface by {:.3} mm at most.",
            grouped(flips as u64),
            farthest * 1e3
        );
        let steps = [
            relaxed(|r| r.relax_before.as_ref(), "before"),
            (stand_ins > 0).then_some(kept),
            (flips > 0).then_some(flipped),
            relaxed(|r| r.relax_after.as_ref(), "after"),
        ];
        steps.into_iter().flatten().collect()
    }

    fn preparation(&self, page: &mut Page) {
        page.section("Before the bake");
        if self.plan.steps().is_points() {
            return page.paragraph("Points are baked as they are; no step changes them.");
        }
        type Removed = fn(&PrepareReport) -> Option<usize>;
        let steps: [(&str, Removed); 4] = [
            ("corners that are no numbers", |r| {
                (r.faces_not_finite > 0).then_some(r.faces_not_finite)
            }),
            ("never seen from outside", |r| {
                Some(r.hidden.as_ref()?.faces_deleted)
            }),
            ("touching surfaces", |r| {
                Some(r.touching.as_ref()?.faces_deleted)
            }),
            ("simplified", |r| {
                let s = r.simplify.as_ref()?;
                Some(s.faces_before.saturating_sub(s.faces_after))
            }),
        ];
        let mut rows = Vec::new();
        for (step, removed) in steps {
            let of = self.scans.iter().filter_map(|s| removed(&s.report));
            let counts: Vec<usize> = of.collect();
            if let Some(most) = counts.iter().max() {
                let all = counts.iter().sum::<usize>() as u64;
                let frames = counts.iter().filter(|c| **c > 0).count() as u64;
                rows.push(vec![
                    step.into(),
                    grouped(all),
                    grouped(frames),
                    grouped(*most as u64),
                ]);
            }
        }
        let faces = |of: &dyn Fn(&PrepareReport) -> usize| {
            let each = self.scans.iter().map(|s| of(&s.report) as u64);
            grouped(each.sum())
        };
        page.paragraph(&format!(
            "{} faces in all frames came in, {} went out.",
            faces(&|r| r.faces_before),
            faces(&|r| r.faces_after)
        ));
        for text in self.moves() {
            page.paragraph(&text);
        }
        self.simplified(page);
        match rows.is_empty() {
            true => page.paragraph("No step removed faces."),
            false => page.table(
                &["removed because", "faces", "in frames", "most in a frame"],
                &rows,
            ),
        }
    }

    /// How far the surface of the sequence is from what was baked.
    fn simplified(&self, page: &mut Page) {
        let Some(simplified) = &self.summary.simplified else {
            return;
        };
        page.paragraph(&format!("Simplified {}.", simplified.words()));
        let of = |value: &dyn Fn(&SurfaceDistance) -> f64| {
            let each = self.scans.iter().map(|s| s.simplified.as_ref().map(value));
            each.map(|v| v.unwrap_or(0.0) * 1e3).collect()
        };
        let frames = self.axis();
        let line = |name, values| Series { name, values };
        let plot = Plot {
            title: "Distance of simplified surfaces from those of the sequence per frame, mm",
            frames: &frames,
            series: vec![
                line("largest", of(&|s| s.max)),
                line("RMS", of(&|s| s.rms())),
            ],
        };
        page.html(&plot.svg());
    }

    fn warnings(&self, page: &mut Page) {
        page.section("Warnings");
        for unused in &self.summary.unused_settings {
            page.paragraph(unused);
        }
        for (_, message) in &self.summary.not_kept {
            page.paragraph(message);
        }
        let summary = self.summary;
        if summary.warnings.is_empty() {
            if summary.unused_settings.is_empty() && summary.not_kept.is_empty() {
                page.paragraph("None.");
            }
            return;
        }
        let rows = self.summary.warnings.iter();
        let rows: Vec<_> = rows
            .map(|(code, message, frames)| {
                vec![code.clone(), grouped(*frames as u64), message.clone()]
            })
            .collect();
        page.table(&["code", "in frames", "what"], &rows);
    }

    fn pictures(&self, page: &mut Page, shown: &dyn ShownFrames) -> Result<(), BakeError> {
        page.section("Pictures");
        let frames = self.chosen_frames();
        let pairs = pairs(shown, &frames, &self.plan.bounds)?;
        page.paragraph(match self.plan.steps().is_points() {
            true => {
                "The points of the frame, and those decoded from its texels, as squares that face the camera."
            }
            false => "The frame as it came out of preparation, and as it is decoded from its texels.",
        });
        for pair in pairs {
            let number = self.job.number(pair.frame);
            for (what, image) in [("source", &pair.source), ("baked", &pair.baked)] {
                figure(page, &format!("frame {number}, {what}"), image)?;
            }
            page.html("<br>");
        }
        Ok(())
    }

    /// Some frames over the whole, and the one that lost most.
    fn chosen_frames(&self) -> Vec<usize> {
        let last = self.job.frame_count().saturating_sub(1);
        let worst = self.summary.errors.position.frame as usize;
        let mut out = vec![0, last / 3, 2 * last / 3, last, worst.min(last)];
        out.sort_unstable();
        out.dedup();
        out
    }

    fn settings(&self, page: &mut Page) {
        page.section("Settings");
        let text = serde_json::to_string_pretty(self.job.settings()).unwrap_or_default();
        let shown: String = text.chars().take(MOST_SETTINGS).collect();
        let rest = if shown.len() < text.len() {
            "\n..."
        } else {
            ""
        };
        page.details("as a file of settings", &(shown + rest));
    }
}

/// A picture with what it shows below it.
fn figure(page: &mut Page, label: &str, image: &Image) -> Result<(), BakeError> {
    let address = data_uri(&sinew_io::png_bytes(image)?);
    let (label, width, height) = (escaped(label), image.width(), image.height());
    page.html(&format!(
        "<figure><img src=\"{address}\" width=\"{width}\" height=\"{height}\" alt=\"{label}\"><figcaption>{label}</figcaption></figure>"
    ));
    Ok(())
}

/// The name of a mode, a format or the like, as it stands in files.
fn name_of(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        other => other.map_or_else(|e| e.to_string(), |v| v.to_string()),
    }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn place_words(place: [f32; 3]) -> String {
    let [x, y, z] = place.map(|c| format!("{c:.4}"));
    format!("({x}, {y}, {z})")
}
