//! Stacks that need no file, by name. They show the strands that the graph shows, carried as the stack carries the mesh.

use serde_json::{Map, Value, json};
use sinew::geom::Selection;
use sinew::graph::{InputDecl, InputType, Plan};
use sinew::io::Folders;
use sinew::play::{Character, Document};
use std::path::Path;

/// How a stack moves what it is given.
#[derive(Clone, Copy, Debug)]
struct Stack {
    name: &'static str,
    /// Method of skinning; at rest without one.
    method: Option<&'static str>,
    /// Nodes after skinning, for surfaces only.
    smooth: bool,
}

const fn stack(name: &'static str, method: Option<&'static str>) -> Stack {
    Stack {
        name,
        method,
        smooth: false,
    }
}

const STACKS: [Stack; 5] = [
    stack("rest", None),
    stack("linear", Some("linear")),
    stack("dual_quaternion", Some("dual_quaternion")),
    stack("rigid", Some("rigid")),
    Stack {
        smooth: true,
        ..stack("delta_mush", Some("linear"))
    },
];

/// Names of all stacks.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    STACKS.iter().map(|s| s.name)
}

/// The stack of that name for a character and the strands of `graph`; `None` where there is none of that name.
///
/// Strands follow their joints by the method of the stack; binding refuses those that follow none. Delta mush has no surface of theirs to smooth, so that it
/// leaves them as skinning does.
pub(super) fn document(name: &str, graph: &Document, character: &Character) -> Option<Document> {
    let stack = STACKS.iter().find(|s| s.name == name)?;
    Some(written(stack, character, &strands_of(graph, character)))
}

/// What a graph without strands of its own is measured against: morph targets and linear skinning, of strands from files, too.
pub(super) fn default_document(graph: &Document, character: &Character) -> Document {
    let strands = strands_of(graph, character);
    let from_files = strands.inputs.iter().any(|s| s.decl.file.is_some());
    let missing = character.asset.strands.is_empty() && !strands.inputs.is_empty();
    if !from_files && !missing {
        return Document::default_of(character);
    }
    let bound = character
        .asset
        .meshes
        .iter()
        .all(|m| m.influences.is_some());
    let method = bound.then_some("linear");
    written(&stack("default", method), character, &strands)
}

/// A strands input of the graph.
struct StrandsInput {
    decl: InputDecl,
    /// File of the pose that it follows, where that is not the main character's.
    pose_file: Option<String>,
}

struct StrandsOf {
    inputs: Vec<StrandsInput>,
    /// Where the files lie that they name.
    folders: Folders,
}

/// A graph that does not compile is not what is shown: then the strands are those of the character.
fn strands_of(graph: &Document, character: &Character) -> StrandsOf {
    let of = |document: &Document| {
        let plan = document.compile().ok()?;
        let strands = plan.inputs().iter().filter(|i| i.ty == InputType::Strands);
        let input = |decl: &InputDecl| StrandsInput {
            decl: decl.clone(),
            pose_file: pose_file(&plan, decl),
        };
        Some(StrandsOf {
            inputs: strands.map(input).collect(),
            folders: document.folders.clone(),
        })
    };
    let found = of(graph).or_else(|| of(&Document::default_of(character)));
    found.unwrap_or_else(|| StrandsOf {
        inputs: Vec::new(),
        folders: graph.folders.clone(),
    })
}

/// Strands follow the joints of the pose that they name, else those of their own file; TressFX's, which has names alone, those of the main character.
fn pose_file(plan: &Plan, strands: &InputDecl) -> Option<String> {
    if let Some(joints) = &strands.joints {
        let pose = plan.inputs().iter().find(|i| i.name == *joints);
        return pose.and_then(|p| p.file.clone());
    }
    let has_joints = |file: &&String| {
        let ending = Path::new(file.as_str()).extension();
        ending.is_some_and(|e| !e.eq_ignore_ascii_case("tfx"))
    };
    strands.file.as_ref().filter(has_joints).cloned()
}

/// A document that grows.
#[derive(Default)]
struct Writer {
    inputs: Map<String, Value>,
    nodes: Map<String, Value>,
    outputs: Map<String, Value>,
}

impl Writer {
    /// `name`, made longer until nothing else is called so.
    fn free(&self, name: &str) -> String {
        let mut out = name.to_owned();
        while self.inputs.contains_key(&out) || self.nodes.contains_key(&out) {
            out.push('_');
        }
        out
    }

    fn input(&mut self, name: &str, value: Value) -> String {
        let name = self.free(name);
        self.inputs.insert(name.clone(), value);
        name
    }

    fn node(&mut self, name: &str, value: Value) -> String {
        let name = self.free(name);
        self.nodes.insert(name.clone(), value);
        name
    }
}

fn written(stack: &Stack, character: &Character, strands: &StrandsOf) -> Document {
    let mut out = Writer::default();
    // First, so that `--input` finds them by their names.
    for input in &strands.inputs {
        let decl = declaration(&input.decl);
        out.inputs.insert(input.decl.name.clone(), decl);
    }
    let needs_pose = stack.method.is_some();
    let pose = needs_pose.then(|| out.input("pose", json!({"type": "pose"})));
    for input in &strands.inputs {
        add_strands(&mut out, stack, input, pose.as_deref());
    }
    let meshes = &character.asset.meshes;
    if !meshes.is_empty() || strands.inputs.is_empty() {
        let morphs = needs_pose && meshes.iter().any(|m| !m.morph_targets.is_empty());
        add_body(&mut out, stack, pose.as_deref(), morphs);
    }
    let text = json!({
        "sinew": "1.0", "inputs": out.inputs, "nodes": out.nodes, "outputs": out.outputs,
    });
    let name = format!("(built-in stack '{}')", stack.name);
    Document::from_text(name, text.to_string(), strands.folders.clone())
}

fn declaration(decl: &InputDecl) -> Value {
    let mut out = json!({"type": "strands"});
    if let Selection::Named(select) = &decl.selection {
        out["select"] = select.as_str().into();
    }
    if let Some(file) = &decl.file {
        out["file"] = file.as_str().into();
    }
    if let Some(f) = &decl.followers {
        out["followers"] = json!({
            "count": f.count, "radius": f.radius, "tip_separation": f.tip_separation, "seed": f.seed,
            "length_variation": f.length_variation, "curl": f.curl, "curl_length": f.curl_length,
            "frizz": f.frizz, "frizz_length": f.frizz_length,
        });
    }
    out
}

fn add_strands(out: &mut Writer, stack: &Stack, input: &StrandsInput, pose: Option<&str>) {
    let name = &input.decl.name;
    let mut last = name.clone();
    if let (Some(method), Some(pose)) = (stack.method, pose) {
        let own = input.pose_file.as_ref().map(|file| {
            let declared = json!({"type": "pose", "file": file});
            out.input(&format!("{name}_pose"), declared)
        });
        let pose = own.as_deref().unwrap_or(pose);
        if input.decl.file.is_some() {
            out.inputs[name.as_str()]["joints"] = pose.into();
        }
        let skin = json!({"node": "skin", "mesh": name, "pose": pose, "method": method});
        last = out.node(&format!("{name}_skin"), skin);
    }
    out.outputs.insert(name.clone(), last.into());
}

fn add_body(out: &mut Writer, stack: &Stack, pose: Option<&str>, morphs: bool) {
    let body = out.input("body", json!({"type": "mesh"}));
    let mut last = body.clone();
    if morphs {
        let morph = json!({"node": "morph", "mesh": last, "pose": pose});
        last = out.node("body_morph", morph);
    }
    if let (Some(method), Some(pose)) = (stack.method, pose) {
        let skin = json!({"node": "skin", "mesh": last, "pose": pose, "method": method});
        last = out.node("body_skin", skin);
    }
    if stack.smooth {
        let mush = json!({"node": "delta_mush", "mesh": last, "iterations": 10});
        last = out.node("body_mush", mush);
    }
    out.outputs.insert(body, last.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::geom::{Mesh, Vec3};
    use sinew::play::{Output, PlayError, PlayInputs, Player, Runner};
    use std::sync::Arc;

    const HAIR: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "hair": {"type": "strands"FILE}},
 "nodes": {"skin": {"node": "skin", "mesh": "body", "pose": "pose"}, "sim": {"node": "hair_sim", "strands": "hair", "pose": "pose"}},
 "outputs": {"body": "skin", "hair": "sim"}}"#;

    fn head() -> Arc<Character> {
        let head = sinew_samples::head().expect("a sample");
        Arc::new(Character::from_asset(head))
    }

    /// Positions of an output in frame 20.
    fn shown(
        document: &Document,
        character: &Arc<Character>,
        output: &str,
    ) -> Result<(Vec<[f32; 3]>, Player), PlayError> {
        let plan = document.compile().unwrap_or_else(|e| panic!("{e}"));
        let plan = Arc::new(plan);
        let cast = PlayInputs::load(character.clone(), &plan, &document.folders)?;
        let graph = cast.bind(&plan, &[])?;
        let runner = Runner::cpu(&graph);
        let mut player = Player::new(runner, cast, Vec::new(), None, 30.0)?;
        player.advance(20)?;
        let outputs = player.read_outputs()?;
        let found = outputs.into_iter().find(|o| o.0 == output);
        let Some((_, Output::Mesh(mesh))) = found else {
            panic!("no output '{output}'");
        };
        Ok((mesh.positions, player))
    }

    /// Linear skinning in double precision, from its formula.
    fn skinned(hair: &Mesh, player: &Player) -> Vec<Vec3<f64>> {
        let palette = &player.inputs().poses()[0].palette;
        let influences = hair.influences.as_ref().expect("weights");
        let point = |(v, p): (usize, &[f32; 3])| {
            let mut sum = Vec3::zeros();
            for (joint, weight) in influences.row(v) {
                let rows = palette[joint as usize].rows.map(|r| r.map(f64::from));
                let moved = rows.map(|r| {
                    r[0] * f64::from(p[0]) + r[1] * f64::from(p[1]) + r[2] * f64::from(p[2]) + r[3]
                });
                sum += Vec3::from(moved) * f64::from(weight);
            }
            sum
        };
        hair.positions.iter().enumerate().map(point).collect()
    }

    #[test]
    fn strands_of_the_graph_are_shown_by_every_stack() {
        let head = head();
        let hair = head.asset.merged_strands(&Selection::All).expect("strands");
        let graph = Document::from_text("g.json", HAIR.replace("FILE", ""), "");
        let of = |name| document(name, &graph, &head).expect("a stack");
        let (rest, _) = shown(&of("rest"), &head, "hair").expect("plays");
        assert_eq!(rest, hair.positions);
        for name in ["linear", "delta_mush"] {
            let (linear, player) = shown(&of(name), &head, "hair").expect("plays");
            let expected = skinned(&hair, &player);
            let pairs = linear.iter().zip(&expected);
            let apart = pairs.map(|(a, b)| (Vec3::from(a.map(f64::from)) - b).norm());
            assert!(apart.fold(0.0, f64::max) < 1e-6, "{name}");
            assert_ne!(linear, rest, "{name}: the head moves");
        }
        for name in names() {
            shown(&of(name), &head, "body").expect(name);
        }
        let default = default_document(&graph, &head);
        assert_eq!(default, Document::default_of(&head));
    }

    #[test]
    fn strands_of_files_are_shown_too() {
        let head = head();
        let folder = tempfile::tempdir().expect("writable");
        let path = folder.path().join("h.tfx");
        let hair = head.asset.merged_strands(&Selection::All).expect("strands");
        let strands = hair.topology.strands().expect("strands");
        let each = strands.range(0).len();
        sinew::io::tressfx::write_tfx_asset(&path, &hair, &head.asset.rig).expect("writes");
        let file = r#", "file": "h.tfx", "followers": {"count": 1, "radius": 0.002}"#;
        let graph = Document::from_text("g.json", HAIR.replace("FILE", file), folder.path());
        for name in ["rest", "linear"] {
            let document = document(name, &graph, &head).expect("a stack");
            let (found, _) = shown(&document, &head, "hair").expect("plays");
            assert_eq!(found.len(), 2 * strands.guide_strands().count() * each);
        }
        let default = default_document(&graph, &head);
        shown(&default, &head, "hair").expect("plays");
        // Without its bones nothing says what it follows.
        std::fs::remove_file(path.with_extension("tfxbone")).expect("there");
        let linear = document("linear", &graph, &head).expect("a stack");
        let error = shown(&linear, &head, "hair").expect_err("no joints");
        assert!(
            error.to_string().contains("has no joint weights"),
            "{error}"
        );
        let rest = document("rest", &graph, &head).expect("a stack");
        shown(&rest, &head, "hair").expect("rest needs none");
    }

    #[test]
    fn names_of_strands_are_kept_whatever_they_are() {
        let head = head();
        let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "strands"}, "pose": {"type": "strands"}}, "outputs": {"a": "body", "b": "pose"}}"#;
        let graph = Document::from_text("g.json", text, "");
        for name in names() {
            let document = document(name, &graph, &head).expect("a stack");
            let plan = document.compile().unwrap_or_else(|e| panic!("{name}: {e}"));
            let strands = plan.inputs().iter().filter(|i| i.ty == InputType::Strands);
            let strands: Vec<&str> = strands.map(|i| i.name.as_str()).collect();
            assert_eq!(strands, ["body", "pose"], "{name}");
        }
    }
}
