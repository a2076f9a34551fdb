//! Writes the seed corpora and the words of graph documents: `cargo run -p sinew-fuzz --features targets --example seeds`, into `fuzz/corpus/<target>`.
//! Seeds are small and valid: every feature of a format at least once, so that mutations start behind the header.

mod fbx;
mod gltf;

use serde_json::Value;
use sinew::deform::Par;
use sinew::geom::{Asset, Mesh};
use sinew::graph::{InputBinding, InputType, Instance, NoNesting, compile};
use sinew::io::gltf_write::{GlbOptions, write_glb};
use sinew::io::obj::write_obj;
use sinew::io::ply::{PlyEncoding, PlyOptions, write_ply};
use sinew::io::point_cache::PointCacheWriter;
use sinew::io::texture::{ExrCompression, TextureChannels, TextureFormat, TextureWriter};
use sinew::io::{CachedMesh, FrameCache, FrameData, Surface};
use sinew_fuzz::characters;
use sinew_fuzz::documents::{self, SEPARATOR};
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Outcome = Result<(), Box<dyn Error>>;

/// Larger seeds only slow the fuzzer down.
const LARGEST: usize = 48 << 10;

fn main() -> Outcome {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let sheet = characters::sheet();
    glb(&folder(&corpus, "glb")?, &sheet)?;
    fbx::write(&folder(&corpus, "fbx")?)?;
    obj(&folder(&corpus, "obj")?, &sheet)?;
    ply(&folder(&corpus, "ply")?, &sheet)?;
    point_cache(&folder(&corpus, "point_cache")?, &sheet)?;
    pose_driver(&folder(&corpus, "pose_driver")?)?;
    picture(&folder(&corpus, "picture")?)?;
    texture(&folder(&corpus, "texture")?)?;
    graphs(&folder(&corpus, "graph_check")?)?;
    graph_words(
        &corpus
            .with_file_name("dictionaries")
            .join("graph_check.dict"),
    )?;
    caches(&folder(&corpus, "cache_restore")?, &sheet)?;
    work_records(&folder(&corpus, "work_records")?)?;
    for entry in std::fs::read_dir(&corpus)? {
        let folder = entry?.path();
        let mut count = 0;
        for file in std::fs::read_dir(&folder)? {
            let file = file?;
            let is_large = file.metadata()?.len() > LARGEST as u64;
            if is_large {
                std::fs::remove_file(file.path())?;
            }
            count += usize::from(!is_large);
        }
        println!("{} files in {}", count, folder.display());
    }
    Ok(())
}

fn folder(corpus: &Path, target: &str) -> Result<PathBuf, Box<dyn Error>> {
    let path = corpus.join(target);
    std::fs::create_dir_all(&path)?;
    Ok(path)
}

/// Three frames of a mesh.
fn frames(mesh: &Mesh, everything: bool) -> CachedMesh<'_> {
    let frame = |k: usize| FrameData {
        positions: mesh
            .positions
            .iter()
            .map(|p| [p[0], p[1] + k as f32 / 4.0, p[2]])
            .collect(),
        normals: mesh.normals.clone().filter(|_| everything),
        tangents: mesh.tangents.clone().filter(|_| everything),
        colors: mesh.colors.first().cloned().filter(|_| everything),
    };
    CachedMesh {
        name: mesh.name.clone(),
        mesh,
        frames: (0..3).map(|k| frame(k).into()).collect(),
    }
}

fn cache(mesh: &Mesh, everything: bool) -> FrameCache<'_> {
    FrameCache {
        meshes: vec![frames(mesh, everything)],
        times_secs: vec![0.0, 0.5, 1.0],
    }
}

fn glb(to: &Path, sheet: &Asset) -> Outcome {
    let mesh = &sheet.meshes[0];
    for everything in [false, true] {
        let options = GlbOptions {
            graph: everything.then_some("{\"sinew\": \"1.0\", \"stack\": [\"skin\"]}"),
            ..GlbOptions::default()
        };
        let path = to.join(format!("written_{everything}.glb"));
        write_glb(&path, &cache(mesh, everything), &options)?;
    }
    gltf::write(to)
}

/// A cube of six quads.
const QUADS: &str = "o cube\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
    vt 0 0\nvt 1 0\nvt 1 1\nvn 0 0 1\nvn 0 0 -1\ng front\nf 5/1/1 6/2/1 7/3/1 8/1/1\ng back\n\
    f -8//2 -5//2 -6//2 \\\n -7//2\nf 1 2 6 5\nf 2 3 7 6\n";

fn obj(to: &Path, sheet: &Asset) -> Outcome {
    let mesh = &sheet.meshes[0];
    write_obj(&to.join("sheet.obj"), &[Surface::from(mesh)])?;
    write_obj(
        &to.join("two.obj"),
        &[Surface::from(mesh), Surface::from(mesh)],
    )?;
    std::fs::write(to.join("quads.obj"), QUADS)?;
    let colored = "# colours\nv 0 0 0 1 0 0\nv 1e0 0 0 0 1 0 0.5\nv 0 1 0 2\nf 1 2 3\nf 1 2\n";
    std::fs::write(to.join("colored.obj"), colored)?;
    Ok(())
}

fn ply(to: &Path, sheet: &Asset) -> Outcome {
    let mesh = &sheet.meshes[0];
    for (name, encoding) in [
        ("ascii", PlyEncoding::Ascii),
        ("binary", PlyEncoding::default()),
    ] {
        let options = PlyOptions {
            encoding,
            ..PlyOptions::default()
        };
        let path = to.join(format!("{name}.ply"));
        write_ply(&path, &[Surface::from(mesh)], options)?;
    }
    let head = "ply\nformat ascii 1.0\ncomment c\nelement vertex 4\nproperty double x\nproperty double y\n\
        property double z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nproperty float a_x\n\
        property float a_y\nproperty list uchar int tags\nelement face 2\nproperty list uchar uint vertex_indices\n\
        property float quality\nelement edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n";
    let body = "0 0 0 255 0 0 1 2 0\n1 0 0 0 255 0 1 2 2 7 8\n1 1 0 0 0 255 1 2 1 9\n0 1 0 9 9 9 1 2 0\n\
        4 0 1 2 3 0.5\n2 0 1 0.1\n0 1\n";
    std::fs::write(to.join("lists.ply"), format!("{head}{body}"))?;
    let mut big = b"ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
        property float z\nproperty short s\nproperty ushort t\nelement face 1\nproperty list uchar ushort \
        vertex_index\nend_header\n"
        .to_vec();
    for v in 0..3_u16 {
        for c in [f32::from(v), 1.0 / f32::from(v + 1), 0.0] {
            big.extend(c.to_be_bytes());
        }
        big.extend(v.to_be_bytes());
        big.extend((v * 9).to_be_bytes());
    }
    big.extend([3, 0, 0, 0, 1, 0, 2]);
    std::fs::write(to.join("big.ply"), big)?;
    Ok(())
}

/// Each format with every field, and with few.
fn pose_driver(to: &Path) -> Outcome {
    let m = "[1,0,0,0, 0,1,0,0, 0,0,1,0, 1,2,3,1]";
    let rows = "[[1,0,0,0],[0,1,0,0],[0,0,1,0],[1,2,3,1]]";
    let psd = format!(
        r#"{{"version":1,"arm":{{"DriverObject":"a","DrivenObjects":["b"],"DrivenJointOrientList":[[0,0,90]],"PSDType":1,"BasisFunction":1,"GlobalWidth":90.0,"ClampNegativeWeight":true,"NormalizeMethod":1,"TwistAxis":0,"IsAutomaticRadius":true,"DistanceMethod":0,"Poses":{{"p":{{"outDriverLocalMatrix":{rows},"outDrivenLocalMatrixList":[{m}],"RawPoseRotation":[0,0,-120]}},"q":{{"outDriverLocalMatrix":[{m}]}},"r":{{"RawPoseRotation":[1,2,3]}}}}}}}}"#
    );
    let solver = format!(
        r#""solver_name":"s","drivers":["a"],"driven_transforms":["b"],"controllers":["c"],"poses":{{"p":{{"drivers":[{m}],"controllers":[{m}],"driven":{{"b":{m}}},"function_type":"DefaultFunctionType","scale_factor":1.0,"distance_method":"DefaultMethod","target_enable":true,"blendshape_data":[{{"blendshape_mesh":"x","mesh_index":0}}]}}}},"driven_attrs":[["b.s"]],"mode":0,"radius":45.0,"automaticRadius":false,"weightThreshold":0.001,"distanceMethod":1,"normalizeMethod":0,"functionType":0,"twistAxis":0,"inputMode":"Rotation""#
    );
    let samples = r#"{"solvers":[{"name":"a","joint":"b","rest_rotation_xyzw":[0,0,0,1],"radius":1.2,"samples":[{"name":"p","rotation_xyzw":[0,0,0.70710678,0.70710678],"time_in_clip":0.5},{"name":"q","rotation_xyzw":[0.6,0,0,0.8]}]}]}"#;
    std::fs::write(to.join("psd.json"), psd)?;
    std::fs::write(to.join("wrangler.json"), format!("{{\"s\":{{{solver}}}}}"))?;
    let sidecar = format!("{{{solver},\"export_fbx\":\"s.fbx\",\"asset_name\":\"n\"}}");
    std::fs::write(to.join("sidecar.json"), sidecar)?;
    std::fs::write(to.join("samples.json"), samples)?;
    Ok(())
}

/// Each kind of pixels as PNG, and the kinds of JPEG that the encoder writes.
fn picture(to: &Path) -> Outcome {
    use png::{BitDepth, ColorType};
    let (width, height) = (24_u8, 14_u8);
    let rows = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let rgba: Vec<[u8; 4]> = rows.map(|(x, y)| [x * 9, y * 17, 60, 250 - x]).collect();
    let rgb: Vec<u8> = rgba.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
    let grey: Vec<u8> = rgba.iter().map(|p| p[0]).collect();
    let grey_alpha: Vec<u8> = rgba.iter().flat_map(|p| [p[0], p[3]]).collect();
    let deep = |samples: &[u8]| samples.iter().flat_map(|&s| [s, s]).collect::<Vec<u8>>();
    for (name, color, depth, data) in [
        ("rgba8", ColorType::Rgba, BitDepth::Eight, rgba.concat()),
        ("rgb16", ColorType::Rgb, BitDepth::Sixteen, deep(&rgb)),
        ("grey8", ColorType::Grayscale, BitDepth::Eight, grey.clone()),
        (
            "grey_alpha16",
            ColorType::GrayscaleAlpha,
            BitDepth::Sixteen,
            deep(&grey_alpha),
        ),
    ] {
        let file = std::fs::File::create(to.join(format!("{name}.png")))?;
        let mut encoder = png::Encoder::new(file, width.into(), height.into());
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder.write_header()?.write_image_data(&data)?;
    }
    for (name, color, data) in [
        ("rgb", jpeg_encoder::ColorType::Rgb, rgb),
        ("grey", jpeg_encoder::ColorType::Luma, grey),
    ] {
        let encoder = jpeg_encoder::Encoder::new_file(to.join(format!("{name}.jpg")), 75)?;
        encoder.encode(&data, width.into(), height.into(), color)?;
    }
    Ok(())
}

/// Each format with each number of channels.
fn texture(to: &Path) -> Outcome {
    let (width, height) = (7, 19);
    for channels in [
        TextureChannels::Grey,
        TextureChannels::Rgb,
        TextureChannels::Rgba,
    ] {
        let length = width * channels.names().len();
        let name = |format: &str| to.join(format!("{format}_{}", channels.names().len()));
        let codes = |y: usize| (0..length).map(move |x| (x * 251 + y * 9_973) as u16);
        for packing in [ExrCompression::None, ExrCompression::Zip] {
            for format in [
                TextureFormat::ExrHalf(packing),
                TextureFormat::ExrFloat(packing),
            ] {
                let path = name(&format!("{format:?}"));
                let mut file = TextureWriter::create(&path, format, width, height, channels)?;
                for y in 0..height {
                    let row: Vec<f32> = codes(y).map(|c| f32::from(c) / 100.0 - 9.0).collect();
                    file.write_row(row.as_slice())?;
                }
                file.finish()?;
            }
        }
        let mut file8 =
            TextureWriter::create(&name("png8"), TextureFormat::Png8, width, height, channels)?;
        let mut file16 = TextureWriter::create(
            &name("png16"),
            TextureFormat::Png16,
            width,
            height,
            channels,
        )?;
        for y in 0..height {
            file16.write_row(codes(y).collect::<Vec<_>>().as_slice())?;
            file8.write_row(
                codes(y)
                    .map(|c| (c >> 4) as u8)
                    .collect::<Vec<_>>()
                    .as_slice(),
            )?;
        }
        file8.finish()?;
        file16.finish()?;
    }
    Ok(())
}

fn point_cache(to: &Path, sheet: &Asset) -> Outcome {
    let mesh = frames(&sheet.meshes[0], false);
    let times = [0.0, 0.5, 1.0];
    let points = mesh.mesh.vertex_count();
    for mut writer in [
        PointCacheWriter::pc2(&to.join("sheet.pc2"), points, times.len(), 1.0, 0.5)?,
        PointCacheWriter::mdd(&to.join("sheet.mdd"), points, &times)?,
    ] {
        for frame in &mesh.frames {
            writer.frame([&frame.read()?.positions[..]].into_iter())?;
        }
        writer.finish()?;
    }
    Ok(())
}

/// As it is, and as plain JSON, which the mutator can take apart.
fn example(to: &Path, text: &str) -> Outcome {
    let plain = sinew::graph::to_plain_json("example", text)?;
    std::fs::write(to, plain)?;
    Ok(std::fs::write(to.with_extension("jsonc"), text)?)
}

/// The words that documents are made of: keys and values of the schema, names of outputs.
fn graph_words(to: &Path) -> Outcome {
    let mut words = BTreeSet::new();
    let outputs = sinew::deform::REGISTRY.iter().flat_map(|d| d.outputs);
    words.extend(outputs.map(|p| p.name.to_owned()));
    let mut values = vec![sinew::graph::schema()];
    while let Some(value) = values.pop() {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    // Sentences and patterns are no words of documents.
                    if !["description", "title", "pattern", "$ref", "$id"].contains(&&*key) {
                        values.push(value);
                    }
                    words.insert(key);
                }
            }
            Value::Array(more) => values.extend(more),
            Value::String(word) => drop(words.insert(word)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    words.retain(|w| !w.is_empty() && w.chars().all(is_plain));
    let lines: Vec<String> = words.iter().map(|w| format!("\"\\\"{w}\\\"\"\n")).collect();
    Ok(std::fs::write(to, lines.concat())?)
}

fn graphs(to: &Path) -> Outcome {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for entry in std::fs::read_dir(examples)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "json") {
            let name = path.file_name().ok_or("a name")?;
            let text = std::fs::read_to_string(&path)?;
            example(&to.join(name), &text)?;
        }
    }
    for built_in in sinew::deform::examples() {
        example(
            &to.join(built_in.name).with_extension("json"),
            built_in.graph,
        )?;
    }
    for (index, desc) in sinew::deform::REGISTRY.iter().enumerate() {
        let text = documents::around(desc, "");
        std::fs::write(to.join(format!("node_{index}.json")), text)?;
    }
    for (index, text) in documents::cached().iter().enumerate() {
        std::fs::write(to.join(format!("choice_{index}.json")), text)?;
    }
    let nested = [
        r#"{"sinew":"1.0","inputs":{"body":{"type":"mesh"},"pose":{"type":"pose"},"v":{"type":"values","count":3}},"parameters":{"much":{"type":"float","min":0,"max":1,"keys":[[0,0],[1,1]],"interpolation":"smooth"},"n":{"type":"int","default":3,"setup":true}},"nodes":{"a":{"node":"graph","file":"1.json","much":"$much"},"b":{"node":"graph","graph":{"nodes":{"s":{"node":"smooth","mesh":"body"}},"outputs":{"out":"s"}},"body":"a"}},"outputs":{"body":"b.out","other":"a"}}"#,
        r#"{"sinew":"1.0","inputs":{"body":{"type":"mesh"},"pose":{"type":"pose"}},"parameters":{"much":{"type":"float","default":0.5}},"stack":["skin",{"node":"graph","file":"2.json"},{"node":"smooth","blend":"$much"}]}"#,
        r#"{"sinew":"1.0","inputs":{"body":{"type":"mesh"}},"nodes":{"m":{"node":"mask","mesh":"body"},"t":{"node":"transform","mesh":"body","mask":"m","transform":{"translation":[0,1,0],"rotation_degrees":[10,0,0]},"weight":0.5}},"outputs":{"body":"t","mask":"m"}}"#,
    ];
    std::fs::write(to.join("nested"), nested.join(SEPARATOR))?;
    Ok(())
}

/// Every file of the bakes.
fn work_records(to: &Path) -> Outcome {
    for (bake, work) in sinew_fuzz::work::bakes().iter().enumerate() {
        for (file, how, content) in work.seeds() {
            let bytes = [&[bake as u8, file as u8, how][..], &content].concat();
            std::fs::write(to.join(format!("{bake}_{file}")), bytes)?;
        }
    }
    Ok(())
}

/// As in the target `cache_restore`.
type Entry = (
    [u8; 32],
    Vec<String>,
    [u8; 32],
    Option<Vec<u8>>,
    Vec<String>,
);

fn caches(to: &Path, sheet: &Asset) -> Outcome {
    let mesh = Arc::new(sheet.meshes[0].clone());
    let mut cases = 0_usize;
    for (index, document) in documents::cached().iter().enumerate() {
        let plan = Arc::new(compile("fuzz.json", document, &NoNesting)?);
        let inputs: Vec<_> = plan
            .inputs()
            .iter()
            .map(|i| match i.ty {
                InputType::Mesh | InputType::Strands => InputBinding::Mesh(mesh.clone()),
                InputType::Pose => InputBinding::Pose(sheet.rig.clone()),
                InputType::Values | InputType::VertexAnimation => InputBinding::Values,
            })
            .collect();
        let instance = Instance::bind(plan, &inputs, &[], Par::Seq)?;
        let cache = instance.graph().setup_cache();
        let entries: Vec<Entry> = postcard::from_bytes(&cache[72..])?;
        for (at, (_, _, _, results, _)) in entries.iter().enumerate() {
            // One case for each, as in the target.
            let choice = u8::try_from(cases)? & 127;
            cases += 1;
            std::fs::write(
                to.join(format!("cache_{index}_{at}")),
                [&[choice | 128][..], &cache].concat(),
            )?;
            if let Some(results) = results {
                std::fs::write(
                    to.join(format!("blob_{index}_{at}")),
                    [&[choice][..], results].concat(),
                )?;
            }
        }
    }
    Ok(())
}
