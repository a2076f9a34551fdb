//! Checks of pose drivers: condition of the system, and weights between the poses.

mod findings;

pub use findings::{Finding, Severity};

use super::GraphDriver;
use super::drivers::each_driver;
use crate::deform::pose_driver::PoseDriverBind;
use crate::graph::{Plan, SetupProgress, SetupWatch};

/// Report of one driver.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DriverReport {
    /// Name of its node.
    pub name: String,
    /// Location of its node, `file:line:column`.
    pub location: String,
    /// Its settings; `None` if they are invalid.
    pub driver: Option<GraphDriver>,
    /// Numbers of the solved driver; `None` if it has no solution.
    pub solved: Option<Solved>,
    /// Findings, most severe first.
    pub findings: Vec<Finding>,
}

impl DriverReport {
    /// The highest severity of its findings.
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(Finding::severity).max()
    }
}

/// Numbers of a driver with a solution.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Solved {
    /// Width of each enabled pose, in the unit of its metric.
    pub widths: Vec<f64>,
    /// Condition number of the system in the 1-norm; `None` for additive solvers.
    pub condition: Option<f64>,
    /// Smallest eigenvalue of the symmetric part of the kernel matrix; `None` for additive solvers. If it is above 0,
    /// the kernel is positive definite for these poses.
    pub smallest_eigenvalue: Option<f64>,
    /// Smallest and largest weight of any pose on the arcs between poses, before limits.
    pub range_on_arcs: [f64; 2],
    /// Number of sampled arcs. Up to 200 poses, all pairs have one. With more poses, each pose has arcs to its nearest
    /// poses, and the total is not above that of 200 poses.
    pub arcs: usize,
}

/// Checks every driver of a plan. A driver that is invalid or has no solution gets a finding; the others are still
/// checked. `None` if `watch` stops it.
///
/// Cost for n poses: binding is `O(n³)`, one query of the n weights is `O(n²)`. Up to 200 poses, all arcs are sampled:
/// `O(n⁴)`. Above, `O(n²)`.
pub fn check(plan: &Plan, watch: SetupWatch<'_>) -> Option<Vec<DriverReport>> {
    let drivers: Vec<_> = each_driver(plan).collect();
    let count = drivers.len() as f64;
    let drivers = drivers.into_iter().enumerate();
    let reports = drivers.map(|(before, (node, driver))| match driver {
        Ok(driver) => {
            let report = |at: SetupProgress<'_>| {
                let done = (before as f64 + at.done) / count;
                (watch.report)(SetupProgress::new(done, at.node));
            };
            check_driver(&driver, SetupWatch::new(&report, watch.is_stopped))
        }
        Err(e) => Some(DriverReport {
            name: node.name.clone(),
            location: node.location.clone(),
            driver: None,
            solved: None,
            findings: vec![Finding::Unreadable {
                message: message_of(&e),
            }],
        }),
    });
    reports.collect()
}

/// An error with all its causes on one line.
fn message_of(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        source = cause.source();
    }
    message
}

/// Checks one driver; `None` if `watch` stops it.
pub(crate) fn check_driver(driver: &GraphDriver, watch: SetupWatch<'_>) -> Option<DriverReport> {
    let mut findings = findings::of_settings(driver);
    let solved = match PoseDriverBind::new(&driver.settings.driver) {
        Ok(bind) => Some(examine(driver, &bind, watch, &mut findings)?),
        Err(error) => {
            findings.push(Finding::CannotSolve { error });
            None
        }
    };
    findings.sort_by_key(|f| std::cmp::Reverse(f.severity()));
    Some(DriverReport {
        name: driver.name.clone(),
        location: driver.location.clone(),
        driver: Some(driver.clone()),
        solved,
        findings,
    })
}

fn examine(
    driver: &GraphDriver,
    bind: &PoseDriverBind,
    watch: SetupWatch<'_>,
    findings: &mut Vec<Finding>,
) -> Option<Solved> {
    let poses = &driver.settings.driver;
    findings.extend(findings::of_system(bind));
    findings.extend(findings::of_pairs(poses, bind));
    findings.extend(findings::at_poses(poses, bind));
    let on_arcs = findings::on_arcs(poses, bind, (watch, &driver.name))?;
    findings.extend(on_arcs.findings);
    Some(Solved {
        widths: bind.widths().to_vec(),
        condition: bind.condition(),
        smallest_eigenvalue: bind.smallest_eigenvalue(),
        range_on_arcs: on_arcs.range,
        arcs: on_arcs.sampled,
    })
}
