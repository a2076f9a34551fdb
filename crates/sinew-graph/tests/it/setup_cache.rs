//! Saved setup results: a node is bound again only where something changed that its setup depends on.

use sinew_deform::{
    BindContext, BoundNode, MeshEffect, NodeDesc, NodeDocs, NodeError, NodeKind, Par,
    ParameterDesc, ParameterValue, PortDesc, PortType, Restore, UpdateContext,
};
use sinew_geom::{Joint, LocalTransform, Mesh, MorphTarget, Node, Rig, Trs};
use sinew_graph::{
    BindError, BindOptions, BoundGraph, CacheError, CacheUse, InputBinding, NoNesting, Plan,
    SetupProgress, SetupWatch, compile_with_nodes, join_setup_caches,
};
use sinew_testkit::meshes;
use std::cell::RefCell;
use std::sync::{Arc, Mutex};

thread_local! {
    /// `number` of each node that was bound on this thread, not restored.
    static BOUND: RefCell<Vec<i64>> = const { RefCell::new(Vec::new()) };
}

/// Remembers its number. Leaves nothing to save where that is 13, and warns where it is 7.
static COUNTED: NodeDesc = NodeDesc {
    name: "counted",
    kind: NodeKind::Deformer,
    summary: "Tells when it is bound.",
    docs: NodeDocs::NONE,
    rows: &[],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "A mesh."),
        PortDesc {
            required: false,
            ..PortDesc::input("pose", PortType::Pose, "A pose.")
        },
    ],
    outputs: &[PortDesc::mesh_output(MeshEffect::MOVES_FRAMES, "A mesh.")],
    parameters: &[
        ParameterDesc::int("number", 0, 0, 1000, "Its number."),
        ParameterDesc::float("late", 0.0, 0.0, 1.0, "Read in frames."),
        ParameterDesc::float(
            "early",
            0.0,
            0.0,
            1.0,
            "Read in frames, and in setup for even numbers.",
        ),
    ],
    bind: bind_counted,
    restore: Some(Restore {
        version: 1,
        restore: restore_counted,
    }),
};

fn bind_counted(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let number = context.parameters.int("number");
    BOUND.with_borrow_mut(|bound| bound.push(number));
    if number % 2 == 0 {
        let _ = context.parameters.float("early");
    }
    if number == 7 {
        context.warn("seven");
    }
    Ok(Box::new(Counted(number)))
}

fn restore_counted(bytes: &[u8], _: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let number = bytes.try_into().map(i64::from_le_bytes);
    let number = number.map_err(|_| NodeError::Restore("expected a number".into()))?;
    Ok(Box::new(Counted(number)))
}

#[derive(Debug)]
struct Counted(i64);

impl BoundNode for Counted {
    fn setup_bytes(&self) -> usize {
        8
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let _ = context.parameters.float("late") + context.parameters.float("early");
        if let Some(out) = context.outputs.mesh("mesh").positions {
            out.copy_from_slice(context.inputs.mesh("mesh").positions);
        }
    }
    fn save(&self) -> Option<Vec<u8>> {
        (self.0 != 13).then(|| self.0.to_le_bytes().to_vec())
    }
}

fn plan(nodes: &str, last: &str) -> Arc<Plan> {
    let text = format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
 "parameters": {{"p": {{"type": "float", "default": 0.5}}, "q": {{"type": "float", "default": 0.5}}}},
 "nodes": {{{nodes}}}, "outputs": {{"body": "{last}"}}}}"#
    );
    let plan = compile_with_nodes("g.json", &text, &NoNesting, &[&COUNTED]);
    Arc::new(plan.unwrap_or_else(|e| panic!("{e}")))
}

/// Three in a row; the first two run in setup, the last follows `p` late and `q` early.
fn three(numbers: [i64; 3]) -> Arc<Plan> {
    let [a, b, c] = numbers;
    let nodes = format!(
        r#""a": {{"node": "counted", "mesh": "body", "number": {a}}}, "b": {{"node": "counted", "mesh": "a", "number": {b}}},
 "c": {{"node": "counted", "mesh": "b", "number": {c}, "late": "$p", "early": "$q"}}"#
    );
    plan(&nodes, "c")
}

fn rig(name: &str) -> Rig {
    let node = Node {
        name: name.into(),
        parent: None,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let joint = Joint {
        node: 0,
        joint_from_bind: sinew_geom::Affine::identity(),
    };
    Rig::new(vec![node], vec![joint]).expect("a rig")
}

fn inputs(mesh: Mesh) -> Vec<InputBinding> {
    let (mesh, rig) = (Arc::new(mesh), Arc::new(rig("hip")));
    vec![InputBinding::Mesh(mesh), InputBinding::Pose(rig)]
}

struct Found {
    graph: BoundGraph,
    /// Numbers of the nodes that were bound.
    bound: Vec<i64>,
}

impl Found {
    fn cache(&self) -> Vec<u8> {
        self.graph.setup_cache()
    }
    fn used(&self) -> (usize, usize) {
        let CacheUse { restored, made, .. } = self.graph.cache_use();
        (restored, made)
    }
}

fn bind_to(
    plan: &Arc<Plan>,
    inputs: &[InputBinding],
    set: &[(&str, f64)],
    cache: Option<&[u8]>,
) -> Found {
    BOUND.take();
    let set = set.iter().map(|(n, v)| (*n, ParameterValue::Float(*v)));
    let options = BindOptions::from(Par::Seq).cache(cache);
    let graph = BoundGraph::bind(plan.clone(), inputs, &set.collect::<Vec<_>>(), options);
    Found {
        graph: graph.unwrap_or_else(|e| panic!("{e}")),
        bound: BOUND.take(),
    }
}

fn bind(plan: &Arc<Plan>, set: &[(&str, f64)], cache: Option<&[u8]>) -> Found {
    bind_to(plan, &inputs(meshes::cube()), set, cache)
}

#[test]
fn a_changed_node_alone_is_bound_again() {
    let first = bind(&three([1, 2, 3]), &[], None);
    assert_eq!((first.used(), &*first.bound), ((0, 3), &[1, 2, 3][..]));
    let cache = first.cache();
    let again = bind(&three([1, 2, 3]), &[], Some(&cache));
    assert_eq!((again.used(), &*again.bound), ((3, 0), &[][..]));
    assert_eq!(again.cache(), cache, "what was restored is saved alike");
    let changed = bind(&three([1, 5, 3]), &[], Some(&cache));
    assert_eq!((changed.used(), &*changed.bound), ((2, 1), &[5][..]));
    // What stood in front has no say: setup sees the authored mesh.
    let last = bind(&three([4, 2, 3]), &[], Some(&cache));
    assert_eq!((last.used(), &*last.bound), ((2, 1), &[4][..]));
}

#[test]
fn values_of_the_update_count_only_where_setup_reads_them() {
    // The last one is odd: it reads neither in setup.
    let cache = bind(&three([1, 3, 5]), &[], None).cache();
    let set = bind(&three([1, 3, 5]), &[("p", 0.1), ("q", 0.2)], Some(&cache));
    assert_eq!((set.used(), &*set.bound), ((3, 0), &[][..]));
    // An even one reads `early`, which `q` is, also where it is restored.
    let cache = bind(&three([1, 3, 6]), &[], None).cache();
    let set = bind(&three([1, 3, 6]), &[("p", 0.1)], Some(&cache));
    assert_eq!((set.used(), &*set.bound), ((3, 0), &[][..]));
    let cache = set.cache();
    let set = bind(&three([1, 3, 6]), &[("q", 0.1)], Some(&cache));
    assert_eq!((set.used(), &*set.bound), ((2, 1), &[6][..]));
    // Both values are known then.
    let both = join_setup_caches(&[&cache, &set.cache()]).expect("caches");
    for q in [0.1, 0.5] {
        let set = bind(&three([1, 3, 6]), &[("q", q)], Some(&both));
        assert_eq!((set.used(), &*set.bound), ((3, 0), &[][..]), "{q}");
    }
}

#[test]
fn whether_a_value_is_fixed_counts() {
    let one = |late: &str| {
        plan(
            &format!(r#""a": {{"node": "counted", "mesh": "body", "late": {late}}}"#),
            "a",
        )
    };
    let cache = bind(&one("0.25"), &[], None).cache();
    assert_eq!(bind(&one("0.75"), &[], Some(&cache)).used(), (1, 0));
    assert_eq!(bind(&one("\"$p\""), &[], Some(&cache)).used(), (0, 1));
}

#[test]
fn other_inputs_are_other_content() {
    let nodes = r#""a": {"node": "counted", "mesh": "body"}, "b": {"node": "counted", "mesh": "a", "pose": "pose"}"#;
    let plan = plan(nodes, "b");
    let target = |name: &str| MorphTarget {
        name: name.into(),
        vertices: vec![0],
        positions: vec![[1.0; 3]],
        normals: Vec::new(),
        tangents: Vec::new(),
    };
    let mut mesh = meshes::cube();
    mesh.morph_targets = vec![target("smile")];
    let made = bind_to(&plan, &inputs(mesh.clone()), &[], None);
    let cache = made.cache();
    let used = |inputs: &[InputBinding]| bind_to(&plan, inputs, &[], Some(&cache)).used();
    let mut same = mesh.clone();
    same.name = "called otherwise".into();
    assert_eq!(used(&inputs(same)), (2, 0));
    let mut moved = mesh.clone();
    moved.positions[3][1] += 1e-6;
    assert_eq!(used(&inputs(moved)), (0, 2));
    let mut renamed = mesh.clone();
    renamed.morph_targets = vec![target("frown")];
    assert_eq!(used(&inputs(renamed)), (0, 2));
    let mut bare = mesh.clone();
    bare.normals = match bare.normals {
        None => Some(vec![[0.0, 1.0, 0.0]; bare.positions.len()]),
        Some(_) => None,
    };
    assert_eq!(used(&inputs(bare)).0, 0);
    // Another rig is the business of the node that has it.
    let other_rig = InputBinding::Pose(Arc::new(rig("chest")));
    assert_eq!(used(&[inputs(mesh).swap_remove(0), other_rig]), (1, 1));
    assert_eq!(
        made.graph.content_key(),
        bind_to(&plan, made.graph.inputs(), &[], None)
            .graph
            .content_key()
    );
}

/// Nodes of nested graphs, and names in general.
#[test]
fn names_do_not_count() {
    let cache = bind(&three([1, 2, 3]), &[], None).cache();
    let inner = r#""n": {"node": "graph", "body": "body", "graph": {"inputs": {"body": {"type": "mesh"}}, "nodes": {"x": {"node": "counted", "mesh": "body", "number": 2}}, "outputs": {"out": "x"}}},
 "m": {"node": "graph", "body": "n.out", "graph": {"inputs": {"body": {"type": "mesh"}}, "nodes": {"x": {"node": "counted", "mesh": "body", "number": 9}}, "outputs": {"out": "x"}}}"#;
    let nested = plan(inner, "m.out");
    let found = bind(&nested, &[], Some(&cache));
    assert_eq!((found.used(), &*found.bound), ((1, 1), &[9][..]));
    assert_eq!(bind(&nested, &[], Some(&found.cache())).used(), (2, 0));
}

#[test]
fn what_leaves_nothing_to_save_is_bound_and_known() {
    let cache = bind(&three([1, 13, 3]), &[], None).cache();
    let again = bind(&three([1, 13, 3]), &[], Some(&cache));
    assert_eq!((again.used(), &*again.bound), ((2, 0), &[13][..]));
}

#[test]
fn warnings_are_kept() {
    let first = bind(&three([7, 2, 3]), &[], None);
    let again = bind(&three([7, 2, 3]), &[], Some(&first.cache()));
    assert!(again.bound.is_empty());
    assert_eq!(first.graph.warnings().len(), 1);
    assert_eq!(first.graph.warnings(), again.graph.warnings());
}

#[test]
fn damage_is_refused_and_other_graphs_are_not_taken() {
    let plan = three([1, 2, 3]);
    let cache = bind(&plan, &[], None).cache();
    let inputs = inputs(meshes::cube());
    let refused = |bytes: &[u8]| match BoundGraph::bind(
        plan.clone(),
        &inputs,
        &[],
        BindOptions::default().cache(bytes),
    ) {
        Err(BindError::Cache(e)) => e,
        other => panic!("{other:?}"),
    };
    for at in 0..cache.len() {
        let mut bad = cache.clone();
        bad[at] ^= 1;
        let expected = if at < 8 {
            CacheError::Format
        } else {
            CacheError::Damaged
        };
        assert_eq!(refused(&bad), expected, "byte {at}");
        let cut = refused(&cache[..at]);
        assert_eq!(cut == CacheError::Format, at < 72, "cut at {at}: {cut}");
    }
    assert!(join_setup_caches(&[&cache, b"no cache"]).is_err());
    let other = bind(&three([21, 22, 23]), &[], None).cache();
    assert_eq!(bind(&plan, &[], Some(&other)).used(), (0, 3));
}

#[test]
fn progress_of_a_restored_graph_ends_at_one() {
    let plan = three([1, 2, 3]);
    let cache = bind(&plan, &[], None).cache();
    let heard = Mutex::new(Vec::new());
    let report = |p: SetupProgress<'_>| heard.lock().expect("no panic").push(p.done);
    let watch = SetupWatch::new(&report, &|| false);
    let options = BindOptions::default().cache(&cache[..]).watch(watch);
    BoundGraph::bind(plan, &inputs(meshes::cube()), &[], options).expect("binds");
    let heard = heard.into_inner().expect("no panic");
    assert!(heard.is_sorted() && heard.last() == Some(&1.0), "{heard:?}");
}
