//! Sizes of types in words, and the words of constant expressions.

use naga::proc::TypeResolution;
use naga::{
    Arena, ArraySize, Expression, Handle, Literal, Module, Scalar, ScalarKind, Type, TypeInner,
};

use super::MOST_CPU_REGISTERS;

/// Words of each type; `None` for types that have none on the CPU. Too many are [`u32::MAX`].
pub(super) struct Sizes<'a> {
    module: &'a Module,
    of_types: Vec<Option<u32>>,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(module: &'a Module) -> Self {
        let mut out = Self {
            module,
            of_types: Vec::new(),
        };
        // A type stands behind those that it is made of.
        for (_, ty) in module.types.iter() {
            let words = out.words(&ty.inner);
            out.of_types.push(words);
        }
        out
    }

    pub(super) fn of(&self, ty: Handle<Type>) -> Option<u32> {
        self.of_types.get(ty.index()).copied().flatten()
    }

    pub(super) fn resolved(&self, ty: &TypeResolution) -> Option<u32> {
        match ty {
            TypeResolution::Handle(handle) => self.of(*handle),
            TypeResolution::Value(inner) => self.words(inner),
        }
    }

    fn words(&self, inner: &TypeInner) -> Option<u32> {
        let plain = |scalar: Scalar, count: u32| has_32_bits(scalar).then_some(count);
        match inner {
            TypeInner::Scalar(scalar) => plain(*scalar, 1),
            TypeInner::Vector { size, scalar } => plain(*scalar, *size as u32),
            TypeInner::Matrix {
                columns,
                rows,
                scalar,
            } => plain(*scalar, *columns as u32 * *rows as u32),
            TypeInner::Array {
                base,
                size: ArraySize::Constant(count),
                ..
            } => Some(self.of(*base)?.saturating_mul(count.get())),
            TypeInner::Struct { members, .. } => members
                .iter()
                .try_fold(0, |sum: u32, m| Some(sum.saturating_add(self.of(m.ty)?))),
            TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => Some(1),
            _ => None,
        }
    }

    /// Element `index` of a composite type: its first word, and its number of words. `None` for types without elements.
    pub(super) fn element(&self, inner: &TypeInner, index: u32) -> Option<(u32, u32)> {
        if let TypeInner::Struct { members, .. } = inner {
            let before = members.get(..index as usize)?.iter();
            let first = before.map(|m| self.of(m.ty)).sum::<Option<u32>>()?;
            return Some((first, self.of(members.get(index as usize)?.ty)?));
        }
        let (words, count) = self.elements(inner)?;
        (index < count).then_some((index * words, words))
    }

    /// Words of an element, and number of elements.
    pub(super) fn elements(&self, inner: &TypeInner) -> Option<(u32, u32)> {
        match inner {
            TypeInner::Vector { size, .. }
            | TypeInner::ValuePointer {
                size: Some(size), ..
            } => Some((1, *size as u32)),
            TypeInner::Matrix { columns, rows, .. } => Some((*rows as u32, *columns as u32)),
            TypeInner::Array {
                base,
                size: ArraySize::Constant(count),
                ..
            } => Some((self.of(*base)?, count.get())),
            TypeInner::Pointer { base, .. } => self.elements(&self.module.types[*base].inner),
            _ => None,
        }
    }

    /// Appends the words of a constant expression; `None` if it is not constant, has no words here, or too many.
    pub(super) fn constant(
        &self,
        arena: &Arena<Expression>,
        handle: Handle<Expression>,
        out: &mut Vec<u32>,
    ) -> Option<()> {
        match &arena[handle] {
            Expression::Literal(literal) => out.push(word(*literal)?),
            Expression::Constant(constant) => {
                let init = self.module.constants[*constant].init;
                self.constant(&self.module.global_expressions, init, out)?;
            }
            Expression::ZeroValue(ty) => {
                let words = self.of(*ty).filter(|w| *w <= MOST_CPU_REGISTERS)?;
                out.resize(out.len() + words as usize, 0);
            }
            Expression::Compose { components, .. } => {
                for component in components {
                    self.constant(arena, *component, out)?;
                }
            }
            Expression::Splat { size, value } => {
                for _ in 0..*size as u32 {
                    self.constant(arena, *value, out)?;
                }
            }
            _ => return None,
        }
        (out.len() <= MOST_CPU_REGISTERS as usize).then_some(())
    }
}

/// Booleans have one word, too.
pub(super) fn has_32_bits(scalar: Scalar) -> bool {
    match scalar.kind {
        ScalarKind::Bool => true,
        ScalarKind::Float | ScalarKind::Sint | ScalarKind::Uint => scalar.width == 4,
        ScalarKind::AbstractInt | ScalarKind::AbstractFloat => false,
    }
}

fn word(literal: Literal) -> Option<u32> {
    match literal {
        Literal::F32(v) => Some(v.to_bits()),
        Literal::U32(v) => Some(v),
        Literal::I32(v) => Some(v.cast_unsigned()),
        Literal::Bool(v) => Some(v.into()),
        _ => None,
    }
}
