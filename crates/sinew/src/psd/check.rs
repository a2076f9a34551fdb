//! How well the poses of a driver can be solved, and what their weights do.

mod findings;

pub use findings::{Finding, Severity};

use super::GraphDriver;
use super::drivers::each_driver;
use crate::deform::pose_driver::PoseDriverBind;
use crate::graph::{Plan, SetupProgress, SetupWatch};

/// What is known of one driver.
#[derive(Clone, Debug)]
pub struct DriverReport {
    /// Name of its node.
    pub name: String,
    /// Where it stands, `file:line:column`.
    pub place: String,
    /// What it says; `None` where that could not be read.
    pub driver: Option<GraphDriver>,
    /// What came out when it was solved; `None` where it could not be.
    pub solved: Option<Solved>,
    /// What is to be said about it, the gravest first.
    pub findings: Vec<Finding>,
}

impl DriverReport {
    /// The gravest severity of its findings.
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(Finding::severity).max()
    }
}

/// Numbers of a driver that has a solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// Of each pose that takes part, in the unit of its metric.
    pub widths: Vec<f64>,
    /// Of the system, in the 1-norm; `None` for additive solvers.
    pub condition: Option<f64>,
    /// Of the symmetric part of the kernel matrix; `None` for additive solvers. The kernel is positive definite for these poses where this is
    /// above 0.
    pub smallest_eigenvalue: Option<f64>,
    /// Smallest and largest weight of any pose on the arcs between poses, before limits.
    pub range_on_arcs: [f64; 2],
    /// Number of those arcs. All pairs of up to 200 poses have one; of more poses each has one to its nearest, so that there are
    /// no more arcs than between 200.
    pub arcs: usize,
}

/// Checks every driver of a plan. One that cannot be read or solved has a finding that says so and does not keep the others from being
/// checked. `None` where `watch` stops it.
///
/// Binds each driver, which is `O(n³)` for n poses, and asks for its n weights along arcs between poses, `O(n²)` a query: `O(n⁴)` up to 200 poses, whose
/// arcs are all sampled, `O(n²)` beyond.
pub fn check(plan: &Plan, watch: SetupWatch<'_>) -> Option<Vec<DriverReport>> {
    let drivers: Vec<_> = each_driver(plan).collect();
    let count = drivers.len() as f64;
    let drivers = drivers.into_iter().enumerate();
    let reports = drivers.map(|(before, (node, driver))| match driver {
        Ok(driver) => {
            let report = |at: SetupProgress<'_>| {
                let done = (before as f64 + at.done) / count;
                (watch.report)(SetupProgress { done, ..at });
            };
            check_driver(
                &driver,
                SetupWatch {
                    report: &report,
                    ..watch
                },
            )
        }
        Err(e) => Some(DriverReport {
            name: node.name.clone(),
            place: node.place.clone(),
            driver: None,
            solved: None,
            findings: vec![Finding::Unreadable {
                message: message_of(&e),
            }],
        }),
    });
    reports.collect()
}

/// An error with all that caused it, on one line.
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

/// Checks one driver; `None` where `watch` stops it.
pub fn check_driver(driver: &GraphDriver, watch: SetupWatch<'_>) -> Option<DriverReport> {
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
        place: driver.place.clone(),
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
