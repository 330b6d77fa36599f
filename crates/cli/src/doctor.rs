//! `dbdyno doctor`: whether this host is fit to measure on.

use dbdyno_model::Severity;
use dbdyno_report::{DoctorExtent, doctor_document, doctor_json};

use crate::args::{Doctor, Place};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, session};

/// Looks, and prints what was found.
pub(crate) fn run(place: &Place, flags: &Doctor) -> Result<Exit, Failure> {
    let home = session::open_home(place)?;
    let findings = dbdyno_lab::doctor::examine_host(&home, &mut output::say_text);
    let extent = if flags.all { DoctorExtent::Whole } else { DoctorExtent::Faults };
    output::print_report(
        flags.format,
        || doctor_document(&findings, extent),
        || doctor_json(&findings),
    )?;
    let blocked = findings.iter().any(|found| found.severity == Some(Severity::Blocks));
    Ok(if blocked { Exit::CannotTell } else { Exit::Holds })
}
