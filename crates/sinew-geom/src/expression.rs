//! Facial expressions: morph weights under one name, as in VRM.
//!
//! Source: VRM Consortium, *VRMC_vrm 1.0*, "Expressions". VRM 0.x calls them blend shape groups.

/// What an expression does to the expressions of a group while it is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpressionOverride {
    /// Nothing.
    #[default]
    None,
    /// Switches them off.
    Block,
    /// Fades them out by its own weight.
    Blend,
}

/// One morph weight that an expression sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpressionTarget {
    /// Index in [`Pose::morph_weights`](crate::Pose::morph_weights).
    pub weight: usize,
    /// Added to it at full expression.
    pub amount: f32,
}

/// A named set of morph weights.
///
/// A minor version may add fields: end a literal with `..Expression::default()`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expression {
    /// Name: of presets that of VRM 1.0, such as `happy` or `aa`.
    pub name: String,
    /// Morph weights that it sets.
    pub targets: Vec<ExpressionTarget>,
    /// Either on (weight above 0.5) or off.
    pub is_binary: bool,
    /// What it does to expressions that blink, look and speak: see [`Self::group`].
    pub overrides: [ExpressionOverride; 3],
}

/// Presets that blink, look and speak.
const GROUPS: [&[&str]; 3] = [
    &["blink", "blinkLeft", "blinkRight"],
    &["lookUp", "lookDown", "lookLeft", "lookRight"],
    &["aa", "ih", "ou", "ee", "oh"],
];

impl Expression {
    /// The group of presets that it belongs to: 0 blink, 1 look, 2 mouth.
    pub fn group(&self) -> Option<usize> {
        GROUPS.iter().position(|g| g.contains(&self.name.as_str()))
    }

    /// A weight as it is played: 0 to 1, of binary expressions 0 or 1.
    fn played(&self, weight: f32) -> f32 {
        match self.is_binary {
            true => f32::from(u8::from(weight > 0.5)),
            false => weight.clamp(0.0, 1.0),
        }
    }
}

/// Adds expressions to the morph weights of a pose. `weights`: one per expression; they count as 0 to 1. Does not allocate.
///
/// While an expression overrides a group, the expressions of the group fade out or are off. A binary expression that is faded is off.
pub fn apply_expressions(expressions: &[Expression], weights: &[f32], morph_weights: &mut [f32]) {
    let all = || expressions.iter().zip(weights);
    let mut left = [1.0_f32; 3];
    for (expression, weight) in all() {
        let weight = expression.played(*weight);
        for (left, how) in left.iter_mut().zip(expression.overrides) {
            *left -= match how {
                ExpressionOverride::None => 0.0,
                ExpressionOverride::Block => f32::from(u8::from(weight > 0.0)),
                ExpressionOverride::Blend => weight,
            };
        }
    }
    for (expression, weight) in all() {
        let share = expression.group().map_or(1.0, |g| left[g].max(0.0));
        let mut weight = expression.played(*weight) * share;
        if expression.is_binary && weight < 1.0 {
            weight = 0.0;
        }
        if weight == 0.0 {
            continue;
        }
        for target in &expression.targets {
            if let Some(of_pose) = morph_weights.get_mut(target.weight) {
                *of_pose += target.amount * weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(name: &str, weight: usize, amount: f32) -> Expression {
        Expression {
            name: name.into(),
            targets: vec![ExpressionTarget { weight, amount }],
            ..Expression::default()
        }
    }

    fn played(expressions: &[Expression], weights: &[f32]) -> [f32; 3] {
        let mut out = [0.25, 0.0, 0.0];
        apply_expressions(expressions, weights, &mut out);
        out
    }

    #[test]
    fn weights_add_to_those_of_the_pose_and_are_clamped() {
        let all = [expression("happy", 0, 0.5), expression("smirk", 0, 1.0)];
        assert_eq!(played(&all, &[1.0, 0.5]), [1.25, 0.0, 0.0]);
        assert_eq!(played(&all, &[7.0, -3.0]), [0.75, 0.0, 0.0]);
    }

    #[test]
    fn binary_expressions_are_on_or_off() {
        let mut all = [expression("happy", 1, 0.5)];
        all[0].is_binary = true;
        assert_eq!(played(&all, &[0.5])[1], 0.0);
        assert_eq!(played(&all, &[0.51])[1], 0.5);
    }

    /// The specification: `block` switches off at any weight above 0, `blend` multiplies by one minus the weight.
    #[test]
    fn overrides_act_on_their_group_only() {
        let mut all = [
            expression("happy", 0, 0.0),
            expression("blink", 1, 1.0),
            expression("aa", 2, 1.0),
        ];
        all[0].overrides = [
            ExpressionOverride::Blend,
            ExpressionOverride::None,
            ExpressionOverride::Block,
        ];
        assert_eq!(played(&all, &[0.25, 1.0, 1.0])[1..], [0.75, 0.0]);
        assert_eq!(played(&all, &[0.0, 1.0, 1.0])[1..], [1.0, 1.0]);
        all[1].is_binary = true;
        assert_eq!(played(&all, &[0.25, 1.0, 1.0])[1], 0.0, "faded: off");
    }
}
