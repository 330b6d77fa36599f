//! The tables of an arm: filled, taken from an image or kept as one, and checked.
//!
//! ```text
//!   Filling ─────────────── fill
//!   Making an image ─────── fill ─ keep        the other arm may have made it since: restore
//!   Upgrading to an image ─ keep
//!   Image ───────────────── nothing to do
//! ```

use std::sync::Arc;

use dbdyno_load::{Connector, FillProgress, LoadError, check_invariants, fill_tables};
use dbdyno_model::{ArmIndex, Dialect};
use dbdyno_sandbox::Image;
use dbdyno_workload::Dataset;

use super::image::Origin;
use super::set_up::SetUp;
use super::station::{Keeper, Station};
use crate::error::LabError;
use crate::topology;
use crate::watch::{Progress, Watch, stages};

/// Tells that an image stays, which may take gigabytes.
fn tell_kept(watch: &mut dyn Watch, arm: ArmIndex, image: Image) -> Image {
    let (mb, name) = (image.mb, &image.name);
    let text = format!(
        "the loaded tables are kept for later runs: {mb} MB; `dbdyno server rm {name}` frees them, \
         --image none keeps none"
    );
    watch.report_progress(Progress::ImageKept(arm, &text));
    image
}

impl Station {
    /// Makes and fills the tables, unless they are those of the other arm or come from an image.
    ///
    /// # Errors
    /// The server's refusal, or a request to stop.
    pub(crate) fn ensure_filled(
        &mut self,
        setup: &SetUp<'_>,
        watch: &mut dyn Watch,
    ) -> Result<(), LabError> {
        let arm = setup.arm;
        let sandbox = |error| LabError::Sandbox(arm, error);
        let made = match std::mem::replace(&mut self.origin, Origin::Filling) {
            Origin::Filling => return self.fill_tables(setup, watch),
            Origin::Image(image) => (image, "made earlier"),
            Origin::Upgrading(_, key) => {
                let Keeper::Server(server) = &mut self.keeper else { return Ok(()) };
                let kept = server.keep_as_image(setup.home, &key, &mut stages(watch, arm));
                match kept.map_err(sandbox)? {
                    Some(image) => (tell_kept(watch, arm, image), "made by this run"),
                    None => return self.come_back(arm, setup.datasets),
                }
            }
            Origin::Making(key) => {
                // The other arm may have made it since we looked.
                let found = Image::find(setup.home, &key);
                if found.is_none() {
                    self.fill_tables(setup, watch)?;
                }
                let Keeper::Server(server) = &mut self.keeper else { return Ok(()) };
                match found {
                    Some(image) => {
                        server.restore_image(&image).map_err(sandbox)?;
                        (image, "made by this run")
                    }
                    None => {
                        let kept = server.keep_as_image(setup.home, &key, &mut stages(watch, arm));
                        match kept.map_err(sandbox)? {
                            Some(image) => (tell_kept(watch, arm, image), "made by this run"),
                            None => return self.come_back(arm, setup.datasets),
                        }
                    }
                }
            }
        };
        let (image, when) = made;
        self.environment.set("image.key", &*image.name);
        self.environment.set("image.content", format!("{:016x}", image.content_hash()));
        self.environment.set("image.origin", when);
        self.origin = Origin::Image(image);
        self.come_back(setup.arm, setup.datasets)
    }

    fn fill_tables(&self, setup: &SetUp<'_>, watch: &mut dyn Watch) -> Result<(), LabError> {
        // Where nothing is filled, nothing of ours is to be written back either: a checkpoint of a
        // server that others use is work of theirs.
        if self.shares_tables() || setup.datasets.is_empty() {
            return Ok(());
        }
        fill_all(&self.connector, self.dialect, setup, watch)?;
        self.write_back().map_err(|error| {
            LabError::Load(setup.arm, "writing back the filled tables".to_owned(), error)
        })
    }

    /// Lets PostgreSQL write what filling has changed, so that the first cell does not pay for it.
    fn write_back(&self) -> Result<(), LoadError> {
        if self.dialect != Dialect::Postgres {
            return Ok(());
        }
        let mut client = self.connector.connect_for_work()?;
        match client.run("CHECKPOINT") {
            Err(error) if error.is_fatal() => return Err(error.into()),
            // Only a superuser may; elsewhere the checkpoint comes when it comes.
            Err(_) | Ok(_) => client.close(),
        }
        Ok(())
    }

    /// Asks what must hold of the tables, where anything must.
    ///
    /// # Errors
    /// [`LoadError::WrongAnswer`] if it does not hold, or the server's refusal.
    pub(crate) fn check_invariants(
        &self,
        arm: ArmIndex,
        datasets: &[Arc<dyn Dataset>],
        watch: &mut dyn Watch,
    ) -> Result<(), LabError> {
        for dataset in datasets {
            if dataset.invariants(self.dialect).is_empty() {
                continue;
            }
            watch.report_progress(Progress::Stage(arm, "checking the consistency of the tables"));
            let checked = check_invariants(&self.connector, self.dialect, &**dataset);
            checked
                .map_err(|error| LabError::Load(arm, "checking the tables".to_owned(), error))?;
        }
        Ok(())
    }
}

/// Makes and fills the tables there.
///
/// # Errors
/// The server's refusal, or a request to stop.
pub(crate) fn fill_all(
    connector: &Connector,
    dialect: Dialect,
    setup: &SetUp<'_>,
    watch: &mut dyn Watch,
) -> Result<(), LabError> {
    let arm = setup.arm;
    let mut tell = |progress| match progress {
        FillProgress::Rows { done, total } => {
            watch.report_progress(Progress::Filling { arm, done, total });
        }
        FillProgress::Finishing(table) => {
            let text = format!("making the index of table {}", table + 1);
            watch.report_progress(Progress::Stage(arm, &text));
        }
    };
    let mut fill_one = |dataset: &Arc<dyn Dataset>| {
        fill_tables(connector, dialect, &**dataset, setup.stop, &mut tell)
    };
    let filled = setup.datasets.iter().try_for_each(&mut fill_one);
    filled.map_err(|error| LabError::Load(arm, "filling the tables".to_owned(), error))?;
    // What is measured does not begin with a replica that has all of it yet to apply.
    topology::hold_against_source(arm, connector, dialect).map(|_| ())
}
