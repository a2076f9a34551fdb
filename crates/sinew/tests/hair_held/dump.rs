use super::*;
impl Playing<'_> {
    pub(crate) fn dump(&self, dir: &str) {
        std::fs::create_dir_all(dir).unwrap();
        std::fs::write(format!("{dir}/state"), self.player.save_state().unwrap()).unwrap();
        let f = self.field();
        std::fs::write(format!("{dir}/field"), f.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
        let strands = self.scene.hair.topology.strands().unwrap();
        let mut out = Vec::<u8>::new();
        out.extend((strands.len() as u32).to_le_bytes());
        for s in 0..strands.len() { out.extend((strands.range(s).len() as u32).to_le_bytes()); out.extend((strands.guides()[s] as u32).to_le_bytes()); }
        for p in &self.scene.hair.positions { for c in p { out.extend(c.to_le_bytes()); } }
        let masses = match self.scene.hair.attributes.get("inverse_mass") {
            Some(sinew::geom::Attribute::Scalar(m)) => m.clone(), _ => vec![] };
        println!("masses {}", masses.len());
        out.extend((masses.len() as u32).to_le_bytes());
        for c in masses { out.extend(c.to_le_bytes()); }
        for p in &self.now { for c in p { out.extend(c.to_le_bytes()); } }
        std::fs::write(format!("{dir}/hair"), out).unwrap();
    }
    pub(crate) fn deep(&self, number: i64) {
        let words = self.field();
        let field = FieldCollider::new(FieldWords::read(&words)).unwrap();
        let cell = field.feature_size();
        let placement = field.placement();
        let distance = |p: [f32; 3]| field.distance(placement.inverse_point(p.into()).into());
        let strands = self.scene.hair.topology.strands().unwrap();
        for (s, r) in strands.ranges().enumerate() {
            let at = |v: usize| distance(self.now[r.start + v]);
            if r.len() > 2 && (2..r.len()).any(|v| at(v) < -0.07 * cell) {
                let len = |v: usize| (Vec3::from(self.now[r.start + v]) - Vec3::from(self.now[r.start + v - 1])).norm();
                let truth = sinew_testkit::MeshTruth::new(&self.body, self.scene.body.topology.triangles());
                let m = |v: usize| { let p = self.now[r.start + v].map(f64::from); let d = truth.distance(p, 0.05); if truth.winding(p) > 0.5 { -d } else { d } };
                let n = r.len().min(7);
                println!("frame {number} strand {s} guide {} n {} field {:?} mesh {:?} lens {:?}", strands.is_guide(s), r.len(), (0..n).map(|v| at(v) / cell).collect::<Vec<_>>(), (0..n).map(|v| m(v) as f32 / cell).collect::<Vec<_>>(), (1..n).map(|v| len(v) / cell).collect::<Vec<_>>());
            }
        }
    }
    pub(crate) fn moving(&self) {
        let strands = self.scene.hair.topology.strands().unwrap();
        for (s, r) in strands.ranges().enumerate() {
            let (mut f, mut at) = (0.0, 0);
            for v in r.clone() { let m = FPS as f32 * (Vec3::from(self.now[v]) - Vec3::from(self.before[v])).norm(); if m > f { f = m; at = v - r.start; } }
            if f > 4e-4 { println!("moving strand {s} guide {} n {} fastest {f} at {at}", strands.is_guide(s), r.len()); }
        }
    }
}
