//! Draws every sample at rest and in motion (plain linear skinning) into the folder given as the argument.

use sinew_geom::{Affine, Asset, Vec3};
use sinew_picture::{Background, Camera, Image, MeshPicture, Panel, Picture, sheet};

type Posed = (Vec<[f32; 3]>, Vec<[f32; 3]>);

fn posed(asset: &Asset, seconds: f64) -> Posed {
    let mesh = &asset.meshes[0];
    let mut pose = asset.rig.rest_pose();
    asset.rig.evaluate(asset.clips.first(), seconds, &mut pose);
    let mut points = mesh.positions.clone();
    let mut normals = mesh.normals.clone().unwrap_or_default();
    for (target, weight) in mesh.morph_targets.iter().zip(&pose.morph_weights) {
        for (k, &v) in target.vertices.iter().enumerate() {
            for c in 0..3 {
                points[v as usize][c] += weight * target.positions[k][c];
                normals[v as usize][c] += weight * target.normals[k][c];
            }
        }
    }
    let Some(influences) = &mesh.influences else {
        return (points, normals);
    };
    for v in 0..points.len() {
        let mut blended = Affine::<f64> {
            linear: sinew_geom::Mat3::zeros(),
            translation: Vec3::zeros(),
        };
        for (joint, weight) in influences.row(v) {
            let m: Affine<f64> = pose.palette[joint as usize].unpack();
            blended.linear += m.linear * f64::from(weight);
            blended.translation += m.translation * f64::from(weight);
        }
        let p = blended.point(Vec3::from_iterator(points[v].map(f64::from)));
        let n = blended.normal_matrix() * Vec3::from_iterator(normals[v].map(f64::from));
        let n = n.try_normalize(1e-12).unwrap_or(Vec3::y());
        points[v] = [p.x as f32, p.y as f32, p.z as f32];
        normals[v] = [n.x as f32, n.y as f32, n.z as f32];
    }
    (points, normals)
}

fn panel(
    asset: &Asset,
    (points, normals): &Posed,
    yaw: f32,
    pitch: f32,
    wires: bool,
) -> Result<Image, sinew_picture::PictureError> {
    let mesh = &asset.meshes[0];
    let mut picture = Picture::with_background(620, 460, Background::STUDIO);
    let camera = Camera::framing(points, yaw, pitch, picture.aspect());
    let mut shown = MeshPicture::new(points, mesh.topology.triangles());
    shown.normals = Some(normals);
    shown.colors = mesh.colors.first().map(Vec::as_slice);
    shown.wireframe = wires.then_some([0.05; 3]);
    picture.draw_mesh(&shown, &camera)?;
    Ok(picture.resolve())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    for asset in sinew_samples::all()? {
        let end = f64::from(asset.clips[0].range().1);
        let (yaw, pitch) = match asset.name.as_str() {
            "creature" => (1.0, 0.2),
            "ball" => (0.4, 0.3),
            _ => (0.25, 0.45),
        };
        let rest = posed(&asset, 0.0);
        let rest_panel = panel(&asset, &rest, yaw, pitch, false)?;
        let wires = panel(&asset, &rest, yaw + 0.5, pitch, true)?;
        let early = panel(&asset, &posed(&asset, end * 0.2), yaw, pitch, false)?;
        let late = panel(&asset, &posed(&asset, end * 0.54), yaw, pitch, false)?;
        let panels = [
            Panel::new("rest", &rest_panel),
            Panel::new("triangles", &wires),
            Panel::new("20 % of the clip", &early),
            Panel::new("54 % of the clip", &late),
        ];
        let sheet = sheet(&panels, Some(2), None, [250, 250, 250, 255]);
        sinew_io::write_png(&folder.join(format!("{}.png", asset.name)), &sheet)?;
    }
    Ok(())
}
