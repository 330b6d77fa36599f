//! A server whose instructions are counted.

use std::path::PathBuf;

use dbdyno_host::Launch;
use dbdyno_model::Product;

use super::Server;
use super::settings::overlay_settings;
use crate::catalog::at_least;
use crate::error::SandboxError;
use crate::foreign_files::private_dir;
use crate::valgrind::{self, Valgrind};

/// How much slower a server is under callgrind, generously, as far as its start and end go.
const SLOWER: u64 = 5;

impl Server {
    /// Shuts it down cleanly and begins to start it again on the same data under callgrind, which
    /// takes long: [`Server::await_counted`] waits for it. From then on each connection leaves a
    /// file in [`Server::count_files`] when it ends.
    ///
    /// # Errors
    /// As [`Server::restart`].
    pub fn begin_counted(&mut self, valgrind: &Valgrind) -> Result<(), SandboxError> {
        self.halt_cleanly()?;
        let product = self.release.product;
        let mut told = valgrind::settings(product);
        // Unknown words end PostgreSQL; this one came with version 18.
        let knows = product != Product::Postgres || at_least(&self.release.version, "18");
        told.retain(|(name, _)| knows || name != "io_method");
        overlay_settings(&mut self.settings, told);
        let files = self.count_files();
        private_dir(&files).map_err(SandboxError::io("create", &files))?;
        self.valgrind = Some(valgrind.clone());
        self.start_within_s *= SLOWER;
        self.spawn()
    }

    /// Waits until it answers.
    ///
    /// # Errors
    /// As [`Server::restart`]. The end of the log has what valgrind said.
    pub fn await_counted(&mut self) -> Result<(), SandboxError> {
        if self.wait_until_ready()? {
            return Ok(());
        }
        self.change_ports()?;
        self.launch_process()
    }

    /// Where a counted server leaves its files.
    pub fn count_files(&self) -> PathBuf {
        self.work().join("counted")
    }

    /// The command, under callgrind if it is to be counted.
    pub(super) fn counted_command(&self, command: Launch) -> Launch {
        let Some(valgrind) = &self.valgrind else { return command };
        let marks = valgrind::callgrind_arguments(self.release.product);
        let fresh = valgrind.around_server(&self.work());
        valgrind.wrap_program(&command, &self.count_files(), &marks, fresh)
    }
}
