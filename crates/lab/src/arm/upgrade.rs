//! An arm whose tables were loaded by an older release and are upgraded in place.
//!
//! ```text
//!   old release ─▶ fill ─▶ image of old ─▶ new release on a copy ─▶ image, upgraded ─▶ copy
//!                              │ is there next time                      │ is there next time
//! ```
//!
//! The older release is given the same settings, in its own words.

use dbdyno_model::{ArmIndex, Plan, Product, ReleaseSpec, Severity, Target, Warning};
use dbdyno_sandbox::{
    Home, Image, ImageKey, Release, Server, Undone, get, likely_version, upgrade_path,
};

use super::connecting::connector_for;
use super::fill::fill_all;
use super::image;
use super::set_up::{SetUp, options};
use crate::error::LabError;
use crate::watch::{Watch, stages};

/// Looks whether the upgrades of a plan can be done, as far as versions are known without getting
/// anything.
///
/// # Errors
/// [`LabError::Sandbox`] with what to do instead.
pub(crate) fn check_upgrades(home: &Home, plan: &Plan) -> Result<(), LabError> {
    for (arm, spec) in plan.arms.iter() {
        if let (Target::Release(to), Some(from)) = (&spec.target, &spec.begin.upgrade_from) {
            let version = |asked: &str| likely_version(home, to.product, asked);
            let path = upgrade_path(to.product, &version(from), &version(&to.version));
            path.map_err(|error| LabError::Sandbox(arm, error))?;
        }
    }
    Ok(())
}

/// The release that loads the tables, and the key of the image of them.
pub(crate) struct Older {
    pub(crate) release: Release,
    pub(crate) key: ImageKey,
}

impl Older {
    /// Gets it.
    ///
    /// # Errors
    /// As [`get`].
    pub(crate) fn find(
        setup: &SetUp<'_>,
        wanted: &ReleaseSpec,
        from: &str,
        watch: &mut dyn Watch,
    ) -> Result<Older, LabError> {
        let sandbox = |error| LabError::Sandbox(setup.arm, error);
        let mut say = stages(watch, setup.arm);
        let release = get(setup.home, wanted.product, from, &mut say).map_err(sandbox)?;
        let told = options(setup, wanted);
        let content = image::content_lines(setup.datasets, wanted.product.dialect());
        let key = ImageKey::new(&release, &told, &content).map_err(sandbox)?;
        Ok(Older { release, key })
    }

    /// The image of the tables as it loads them; made if it is not there.
    ///
    /// # Errors
    /// Whatever the older release meets.
    pub(crate) fn ensure_image(
        &self,
        setup: &SetUp<'_>,
        wanted: &ReleaseSpec,
        watch: &mut dyn Watch,
    ) -> Result<Image, LabError> {
        let sandbox = |error| LabError::Sandbox(setup.arm, error);
        if let Some(image) = Image::find(setup.home, &self.key) {
            return Ok(image);
        }
        let told = options(setup, wanted);
        let (home, name) = (setup.home, &*setup.arm.to_string());
        let arm = setup.arm;
        let server = Server::start(home, &self.release, &told, name, &mut stages(watch, arm))
            .map_err(sandbox)?;
        let dialect = wanted.product.dialect();
        fill_all(&connector_for(dialect, server.endpoint()), dialect, setup, watch)?;
        server.into_image(home, &self.key, &mut stages(watch, setup.arm)).map_err(sandbox)
    }

    /// What the reader of the run must know of an upgrade to `to`.
    ///
    /// # Errors
    /// As [`upgrade_path`].
    pub(crate) fn upgrade_warning(&self, arm: ArmIndex, to: &Release) -> Result<Warning, LabError> {
        let (from, version) = (&self.release.version, &to.version);
        let path = upgrade_path(to.product, from, version);
        let undone = path.map_err(|error| LabError::Sandbox(arm, error))?;
        let name = to.product.name();
        let mut text =
            format!("{arm}: its tables were loaded by {name} {from} and upgraded in place");
        if undone == Undone::SystemTables {
            let program =
                if to.product == Product::MariaDb { "mariadb-upgrade" } else { "mysql_upgrade" };
            text.push_str(&format!(
                "; of its system tables those that are new were made, and the others are as {from} \
                 had them, because {program} and the client that it runs do not come with the \
                 server"
            ));
            return Ok(Warning::new(Severity::Caution, "upgraded-in-place", text));
        }
        Ok(Warning::new(Severity::Note, "upgraded-in-place", text))
    }
}
