//! Processors that poll for work instead of halting.
//!
//! ```text
//!   /dev/cpu_dma_latency ◀── 0    held open while rounds are measured: every processor polls
//!                        closed   the kernel does again what it is set to, also after kill -9
//! ```
//!
//! That is the kernel's own interface to say how late a processor may wake up at most
//! (Documentation/power/pm_qos_interface.rst); `tuned` sets it in its profile latency-performance,
//! and cyclictest while it measures. A kernel without a cpuidle driver takes the request and does
//! not follow it, so that it is refused here.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use dbdyno_host::{Host, Local, kernel};
use dbdyno_model::{Idle, Plan};

use crate::error::LabError;

const DEVICE: &str = "/dev/cpu_dma_latency";
const DRIVER: &str = "devices/system/cpu/cpuidle/current_driver";
const OTHERWISE: &str = "boot with idle=poll, or leave --idle out";

/// Processors poll as long as this is held, if that is wanted.
pub(crate) struct Polling {
    _request: Option<File>,
}

impl Polling {
    /// # Errors
    /// A sentence about what is in the way.
    pub(crate) fn for_plan(plan: &Plan) -> Result<Polling, LabError> {
        Polling::by(Path::new(DEVICE), &Local, plan)
    }

    fn by(device: &Path, host: &dyn Host, plan: &Plan) -> Result<Polling, LabError> {
        let is_modelled = plan.arms.values().all(|arm| arm.is_mock());
        if plan.quiet.idle == Idle::Halt || is_modelled {
            return Ok(Polling { _request: None });
        }
        let driver = host.kernel_text(&kernel::sys_path(DRIVER)).unwrap_or_default();
        if matches!(driver.trim(), "" | "none") {
            return Err(LabError::Idle(format!(
                "--idle poll has no effect on this host: its kernel has no cpuidle driver; \
                 {OTHERWISE}"
            )));
        }
        let asked = OpenOptions::new().write(true).open(device).and_then(|mut file| {
            file.write_all(&0i32.to_ne_bytes())?;
            Ok(file)
        });
        match asked {
            Ok(file) => Ok(Polling { _request: Some(file) }),
            Err(error) => Err(LabError::Idle(format!(
                "--idle poll needs to write to {}: {error}; run as root, {OTHERWISE}",
                device.display()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_host::ScriptedHost;
    use dbdyno_judge::sample;

    use super::*;

    /// A host with this driver.
    fn host(driver: &str) -> ScriptedHost {
        ScriptedHost::new(&format!("@ {}\n{driver}\n", kernel::sys_path(DRIVER).display()))
    }

    #[test]
    fn a_latency_of_zero_is_asked_for_only_where_it_is_wanted_and_followed() {
        let folder = tempfile::tempdir().unwrap();
        let device = folder.path().join("cpu_dma_latency");
        std::fs::write(&device, "").unwrap();
        let mut plan = sample::point_queries("sqlite:", 1, |_| {}).plan;
        assert!(Polling::by(&device, &host("haltpoll"), &plan).is_ok());
        assert!(std::fs::read(&device).unwrap().is_empty(), "--idle halt");
        plan.quiet.idle = Idle::Poll;
        assert!(Polling::by(&device, &host("haltpoll"), &plan).unwrap()._request.is_some());
        assert_eq!(std::fs::read(&device).unwrap(), [0; 4]);

        for driver in ["none", ""] {
            let error = Polling::by(&device, &host(driver), &plan).err().unwrap().to_string();
            assert!(error.contains("no cpuidle driver"), "{error}");
        }
        let missing = folder.path().join("none");
        let error = Polling::by(&missing, &host("intel_idle"), &plan).err().unwrap().to_string();
        assert!(error.contains("none: No such file") && error.contains("run as root"), "{error}");
    }
}
