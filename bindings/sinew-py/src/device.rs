//! CPU and GPU.

use crate::errors::usage;
use pyo3::prelude::*;

/// Where graphs are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    Cpu,
    Gpu,
}

impl Device {
    pub(crate) fn parse(py: Python<'_>, word: &str) -> PyResult<Self> {
        match word {
            "cpu" => Ok(Self::Cpu),
            "gpu" => Ok(Self::Gpu),
            _ => {
                let message = format!("device: found '{word}', expected cpu or gpu");
                Err(usage(py, "device", message))
            }
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

/// The GPU of the process: opened at the first use.
#[cfg(feature = "gpu")]
pub(crate) fn gpu() -> Result<sinew::gpu::Gpu, sinew::play::PlayError> {
    use sinew::gpu::{Gpu, GpuOptions};
    use std::sync::{Mutex, PoisonError};
    static OPENED: Mutex<Option<Gpu>> = Mutex::new(None);
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    // A lost device is replaced.
    match opened
        .as_ref()
        .filter(|gpu| gpu.scoped("a look", |_| ()).is_ok())
    {
        Some(gpu) => Ok(gpu.clone()),
        None => {
            let gpu = Gpu::new(&GpuOptions::from_env())?;
            *opened = Some(gpu.clone());
            Ok(gpu)
        }
    }
}

/// What a package without GPU support says.
#[cfg(not(feature = "gpu"))]
pub(crate) fn without_gpu(py: Python<'_>) -> PyErr {
    use crate::errors::{Details, Kind, exception};
    let details = Details {
        code: "not_built".into(),
        ..Details::default()
    };
    exception(
        py,
        Kind::Device,
        "this package was built without GPU support; use device=\"cpu\"",
        &details,
    )
}

/// The instruction set that kernels use.
#[pyfunction]
pub(crate) fn simd_level() -> String {
    format!("{:?}", sinew::deform::simd_level())
}

/// Names of the GPUs of this machine.
#[pyfunction]
pub(crate) fn adapters(py: Python<'_>) -> Vec<String> {
    #[cfg(feature = "gpu")]
    return py.detach(|| {
        let found = sinew::gpu::Adapters::enumerate();
        found.infos().map(|info| info.name.clone()).collect()
    });
    #[cfg(not(feature = "gpu"))]
    {
        let _ = py;
        Vec::new()
    }
}
