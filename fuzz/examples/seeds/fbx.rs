//! FBX seeds, as text: the records that the reader looks at, each at least once.

use super::Outcome;
use std::path::Path;

/// A skinned, textured square with a blend shape, an in-between and a take.
const FACE: &str = r#"; FBX 7.4.0 project file
FBXHeaderExtension: {
 FBXVersion: 7400
}
GlobalSettings: {
 Properties70: {
  P: "UpAxis", "int", "Integer", "",2
  P: "FrontAxis", "int", "Integer", "",1
  P: "FrontAxisSign", "int", "Integer", "",-1
  P: "UnitScaleFactor", "double", "Number", "",1
  P: "TimeMode", "enum", "", "",6
 }
}
Objects: {
 Geometry: 1, "Geometry::square", "Mesh" {
  Vertices: *12 {
   a: 0,0,0,1,0,0,1,1,0,0,1,0
  }
  PolygonVertexIndex: *7 {
   a: 0,1,2,-4,0,1,-3
  }
  LayerElementNormal: 0 {
   MappingInformationType: "ByPolygonVertex"
   ReferenceInformationType: "Direct"
   Normals: *21 {
    a: 0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1
   }
  }
  LayerElementUV: 0 {
   MappingInformationType: "ByPolygonVertex"
   ReferenceInformationType: "IndexToDirect"
   UV: *8 {
    a: 0,0,1,0,1,1,0,1
   }
   UVIndex: *7 {
    a: 0,1,2,3,1,2,3
   }
  }
  LayerElementColor: 0 {
   MappingInformationType: "ByVertice"
   ReferenceInformationType: "Direct"
   Colors: *16 {
    a: 1,0,0,1,0,1,0,1,0,0,1,1,1,1,1,1
   }
  }
  LayerElementMaterial: 0 {
   MappingInformationType: "ByPolygon"
   ReferenceInformationType: "IndexToDirect"
   Materials: *2 {
    a: 1,0
   }
  }
  LayerElementSmoothing: 0 {
   MappingInformationType: "ByPolygon"
   ReferenceInformationType: "Direct"
   Smoothing: *2 {
    a: 1,0
   }
  }
 }
 Geometry: 2, "Geometry::half", "Shape" {
  Indexes: *1 {
   a: 2
  }
  Vertices: *3 {
   a: 0,0,1
  }
  Normals: *3 {
   a: 0,1,0
  }
 }
 Geometry: 3, "Geometry::smile", "Shape" {
  Indexes: *2 {
   a: 2,3
  }
  Vertices: *6 {
   a: 0,0,2,0,1,0
  }
 }
 Model: 10, "Model::face", "Mesh" {
  Properties70: {
   P: "Lcl Scaling", "Lcl Scaling", "", "A",1,-1,1
   P: "GeometricTranslation", "Vector3D", "Vector", "",0,0,1
  }
 }
 Model: 11, "Model::root", "LimbNode" {
  Properties70: {
   P: "Lcl Scaling", "Lcl Scaling", "", "A",2,2,2
   P: "RotationOrder", "enum", "", "",4
   P: "RotationActive", "bool", "", "",1
   P: "PreRotation", "Vector3D", "Vector", "",10,20,30
   P: "RotationPivot", "Vector3D", "Vector", "",1,0,0
  }
 }
 Model: 12, "Model::tip", "LimbNode" {
  Properties70: {
   P: "Lcl Translation", "Lcl Translation", "", "A",1,0,0
   P: "InheritType", "enum", "", "",2
  }
 }
 Material: 20, "Material::red", "" {
  ShadingModel: "phong"
  Properties70: {
   P: "DiffuseColor", "Color", "", "A",1,0,0
   P: "TransparencyFactor", "Number", "", "A",0.5
  }
 }
 Material: 21, "Material::blue", "" {
 }
 Texture: 22, "Texture::map", "" {
  RelativeFilename: "map.png"
 }
 Deformer: 30, "Deformer::", "Skin" {
 }
 Deformer: 31, "SubDeformer::", "Cluster" {
  Mode: "Total1"
  Indexes: *3 {
   a: 0,1,2
  }
  Weights: *3 {
   a: 1,0.5,0.25
  }
  Transform: *16 {
   a: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1
  }
  TransformLink: *16 {
   a: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1
  }
 }
 Deformer: 32, "SubDeformer::", "Cluster" {
  Indexes: *2 {
   a: 1,3
  }
  Weights: *2 {
   a: 0.5,1
  }
  Transform: *16 {
   a: 1,0,0,0,0,1,0,0,0,0,1,0,-1,0,0,1
  }
  TransformLink: *16 {
   a: 1,0,0,0,0,1,0,0,0,0,1,0,1,0,0,1
  }
 }
 Deformer: 33, "Deformer::", "BlendShape" {
 }
 Deformer: 34, "SubDeformer::smile", "BlendShapeChannel" {
  DeformPercent: 25
  FullWeights: *2 {
   a: 50,100
  }
 }
 AnimationStack: 40, "AnimStack::root|wave", "" {
  Properties70: {
   P: "LocalStart", "KTime", "Time", "",0
   P: "LocalStop", "KTime", "Time", "",46186158000
  }
 }
 AnimationLayer: 41, "AnimLayer::base", "" {
 }
 AnimationCurveNode: 42, "AnimCurveNode::R", "" {
 }
 AnimationCurve: 43, "AnimCurve::", "" {
  KeyTime: *3 {
   a: 0,23093079000,46186158000
  }
  KeyValueFloat: *3 {
   a: 0,90,-45
  }
  KeyAttrFlags: *2 {
   a: 1032,4
  }
  KeyAttrDataFloat: *8 {
   a: 0,0,0,0,0,0,0,0
  }
  KeyAttrRefCount: *2 {
   a: 1,2
  }
 }
 AnimationCurveNode: 44, "AnimCurveNode::DeformPercent", "" {
 }
 AnimationCurve: 45, "AnimCurve::", "" {
  KeyTime: *2 {
   a: 0,46186158000
  }
  KeyValueFloat: *2 {
   a: 0,100
  }
  KeyAttrFlags: *1 {
   a: 2
  }
  KeyAttrDataFloat: *4 {
   a: 0,0,0,0
  }
  KeyAttrRefCount: *1 {
   a: 2
  }
 }
}
Connections: {
 C: "OO",1,10
 C: "OO",10,0
 C: "OO",11,0
 C: "OO",12,11
 C: "OO",20,10
 C: "OO",21,10
 C: "OP",22,20, "DiffuseColor"
 C: "OO",30,1
 C: "OO",31,30
 C: "OO",32,30
 C: "OO",11,31
 C: "OO",12,32
 C: "OO",33,1
 C: "OO",34,33
 C: "OO",2,34
 C: "OO",3,34
 C: "OO",41,40
 C: "OO",42,41
 C: "OP",42,12, "Lcl Rotation"
 C: "OP",43,42, "d|Z"
 C: "OO",44,41
 C: "OP",44,34, "DeformPercent"
 C: "OP",45,44, "d|DeformPercent"
}
"#;

pub(super) fn write(to: &Path) -> Outcome {
    std::fs::write(to.join("face.fbx"), FACE)?;
    // Without the parts that most of the reader needs: short files are mutated more.
    let short = FACE.replace("Deformer", "Other");
    std::fs::write(to.join("mesh.fbx"), short)?;
    Ok(())
}
