//! `--state`: a simulation that goes on from a file.

use crate::args::Device;
use crate::exit::{Code, Failure, Outcome};
use crate::reporter::Reporter;
use sinew::graph::{StateError, StateHome};
use sinew::play::{PlayError, Player, StateFault, saved_frame};
use std::path::{Path, PathBuf};

/// A state of `--state`.
pub(crate) struct SavedState {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl SavedState {
    pub(crate) fn read(path: &Path) -> Outcome<Self> {
        let bytes = sinew::io::read_bytes(path).map_err(Failure::input)?;
        Ok(Self {
            path: path.to_owned(),
            bytes,
        })
    }

    /// A state goes on where it was saved: where `auto` may choose, that is chosen.
    pub(crate) fn device(&self, asked: Device) -> Device {
        match (asked, saved_frame(&self.bytes).map(|s| s.home)) {
            (Device::Auto, Some(StateHome::Cpu)) => Device::Cpu,
            (Device::Auto, Some(StateHome::Gpu)) => Device::Gpu,
            _ => asked,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The frame after which it was saved; `None` if the file is not a state, which [`Self::restore`] reports.
    #[cfg(feature = "gpu")]
    pub(crate) fn frame(&self) -> Option<i64> {
        saved_frame(&self.bytes).map(|s| s.number)
    }

    /// Restores it; gives the frame after which it was saved.
    pub(crate) fn restore(&self, player: &mut Player, reporter: &Reporter) -> Outcome<i64> {
        let saved = self.restore_again(player)?;
        self.check_moment(player, reporter)?;
        Ok(saved)
    }

    /// [`Self::restore`] without its checks.
    pub(crate) fn restore_again(&self, player: &mut Player) -> Outcome<i64> {
        let restored = player.restore_state(&self.bytes);
        restored.map_err(|e| self.refused(e))
    }

    /// Says that the frames `left` of `--frames` follow frame `saved`; an error if there are none.
    pub(crate) fn check_left<'n, T>(
        &self,
        left: &'n [T],
        saved: i64,
        reporter: &Reporter,
    ) -> Outcome<&'n [T]> {
        let path = self.path.display();
        if left.is_empty() {
            let message = format!(
                "{path} was saved after frame {saved}, and --frames has no later frame; ask for frames after {saved}"
            );
            return Err(Failure::usage(message));
        }
        let message = format!("resumes after frame {saved}, from {path}");
        reporter.info("state_read", &message);
        Ok(left)
    }

    /// Cameras cannot be fitted to frames that are not simulated.
    #[cfg(feature = "gpu")]
    pub(crate) fn check_fit(&self, fitted: &[i64]) -> Outcome {
        match (fitted.iter().min(), self.frame()) {
            (Some(&first), Some(saved)) if first <= saved => Err(Failure::usage(format!(
                "--fit begins at frame {first}, but {} was saved after frame {saved}; use --fit with frames after {saved}",
                self.path.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Frames after the state follow it only at the same rate and, smoothly, only in the same clip.
    fn check_moment(&self, player: &Player, reporter: &Reporter) -> Outcome {
        let Some(saved) = saved_frame(&self.bytes) else {
            return Ok(());
        };
        let path = self.path.display();
        let (number, saved_secs) = (saved.number, saved.time_secs);
        let own_secs = player.time_secs(number);
        if (own_secs - saved_secs).abs() > 1e-6 {
            return Err(Failure::usage(format!(
                "{path} was saved after frame {number} at {saved_secs:.4} s, but with this --fps the frame is at {own_secs:.4} s; use --fps {}",
                (number as f64 / saved_secs * 1e6).round() / 1e6
            )));
        }
        if saved.clip.as_deref() != player.clip() {
            let named =
                |clip: Option<&str>| clip.map_or("no clip".into(), |c| format!("clip '{c}'"));
            let (before, now) = (named(saved.clip.as_deref()), named(player.clip()));
            let message = format!(
                "{path} was saved in {before}, but this run plays {now}: the motion may jump"
            );
            reporter.warning("state_of_other_clip", &message);
        }
        Ok(())
    }

    /// A wrong file is the file's fault, a device that failed the device's.
    fn refused(&self, error: PlayError) -> Failure {
        let message = format!("{}: {error}", self.path.display());
        let help = match &error {
            PlayError::State(StateFault::Instance(StateError::Elsewhere { found, .. })) => {
                match found {
                    StateHome::Cpu => "; use --device cpu",
                    StateHome::Gpu => "; use --device gpu",
                }
            }
            _ => "",
        };
        match Failure::from(error) {
            failure if failure.code == Code::Device => failure,
            _ => Failure::input(message + help),
        }
    }
}
