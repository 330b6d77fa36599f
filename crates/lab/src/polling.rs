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

use dbdyno_model::{Idle, Plan};

use crate::error::LabError;

const DEVICE: &str = "dev/cpu_dma_latency";
const DRIVER: &str = "sys/devices/system/cpu/cpuidle/current_driver";
const OTHERWISE: &str = "boot with idle=poll, or leave --idle out";

/// Processors poll as long as this is held, if that is wanted.
pub(crate) struct Polling {
    _request: Option<File>,
}

impl Polling {
    /// # Errors
    /// A sentence about what is in the way.
    pub(crate) fn of(plan: &Plan) -> Result<Polling, LabError> {
        Polling::below(Path::new("/"), plan)
    }

    fn below(root: &Path, plan: &Plan) -> Result<Polling, LabError> {
        let is_modelled = plan.arms.values().all(|arm| arm.is_mock());
        if plan.quiet.idle == Idle::Halt || is_modelled {
            return Ok(Polling { _request: None });
        }
        let driver = std::fs::read_to_string(root.join(DRIVER)).unwrap_or_default();
        if matches!(driver.trim(), "" | "none") {
            return Err(LabError::Idle(format!(
                "--idle poll has no effect on this host: its kernel has no cpuidle driver; \
                 {OTHERWISE}"
            )));
        }
        let device = root.join(DEVICE);
        let asked = OpenOptions::new().write(true).open(&device).and_then(|mut file| {
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
    use super::*;
    use dbdyno_judge::sample;

    /// A host with this driver and, if wanted, the device.
    fn host(driver: &str, has_device: bool) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text, is_there) in [(DRIVER, driver, true), (DEVICE, "", has_device)] {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if is_there {
                std::fs::write(path, text).unwrap();
            }
        }
        root
    }

    #[test]
    fn a_latency_of_zero_is_asked_for_only_where_it_is_wanted_and_followed() {
        let mut plan = sample::point_queries("sqlite:", 1, |_| {}).plan;
        let asked = |host: &tempfile::TempDir| std::fs::read(host.path().join(DEVICE)).unwrap();
        let guest = host("haltpoll\n", true);
        assert!(Polling::below(guest.path(), &plan).is_ok());
        assert!(asked(&guest).is_empty(), "--idle halt");
        plan.quiet.idle = Idle::Poll;
        assert!(Polling::below(guest.path(), &plan).unwrap()._request.is_some());
        assert_eq!(asked(&guest), [0; 4]);

        let said = |driver, has_device| {
            let host = host(driver, has_device);
            Polling::below(host.path(), &plan).err().unwrap().to_string()
        };
        assert!(said("none\n", true).contains("no cpuidle driver"), "{}", said("none\n", true));
        let refused = said("intel_idle", false);
        assert!(refused.contains("cpu_dma_latency: No such file"), "{refused}");
        assert!(refused.contains("run as root"), "{refused}");
    }
}
