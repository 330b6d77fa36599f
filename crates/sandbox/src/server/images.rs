//! A server and images: brought to rest and kept as one, or started over from one.

use std::fs;

use dbdyno_model::Dialect;

use super::files::{copy_data, remove_shared_memory};
use super::{REST_WITHIN_S, SLACK_MB, STOP_WITHIN_S, Server};
use crate::error::SandboxError;
use crate::home::Home;
use crate::image::{self, Image, ImageKey};
use crate::pages;
use crate::process::kill_servers_in;
use crate::space;
use crate::template;

impl Server {
    /// As [`Server::restart`], with nothing in memory that it could read faster than the disk gives
    /// it: what lies in the page cache of its files is dropped, and no buffers are read in
    /// beforehand. Files that it reads with `O_DIRECT`, InnoDB's, were not in the page cache.
    ///
    /// # Errors
    /// As [`Server::restart`].
    pub fn restart_cold(&mut self) -> Result<(), SandboxError> {
        self.go_down(STOP_WITHIN_S)?;
        let data = self.data_dir();
        image::forget_buffers(&data);
        pages::drop_cached(&data).map_err(SandboxError::io("drop the cached pages of", &data))?;
        self.launch_process()
    }

    /// Brings it to rest, turns its data into an image and starts it again on a copy of that.
    /// `None` where there is no room for an image; it is only started again then.
    ///
    /// # Errors
    /// As [`Server::restart`]; it is down then.
    pub fn keep_as_image(
        &mut self,
        home: &Home,
        key: &ImageKey,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Image>, SandboxError> {
        let image = self.lay_down(home, key, progress)?;
        match &image {
            Some(image) => self.start_over(image)?,
            None => self.launch_process()?,
        }
        Ok(image)
    }

    /// As [`Server::keep_as_image`], and does not start it again.
    ///
    /// # Errors
    /// As [`Server::stop`]; [`SandboxError::NoSpace`] where there is no room for an image.
    pub fn into_image(
        mut self,
        home: &Home,
        key: &ImageKey,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Image, SandboxError> {
        let image = self.lay_down(home, key, progress)?;
        let needed_mb = || space::size_mb(&self.data_dir()).map(image::room_for);
        image.map_or_else(
            || {
                let (purpose, needed_mb) = (format!("an image of {}", self.what), needed_mb()?);
                let free_mb = space::free_mb(home.dir())?;
                Err(SandboxError::NoSpace { place: home.images(), purpose, needed_mb, free_mb })
            },
            Ok,
        )
    }

    /// Brings it to rest and turns its data into an image, if there is room for one. It is down.
    fn lay_down(
        &mut self,
        home: &Home,
        key: &ImageKey,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Image>, SandboxError> {
        progress("shutting down for an image");
        self.come_to_rest()?;
        let data = self.data_dir();
        if !image::make_room(home, space::size_mb(&data)?, progress)? {
            progress("no room for an image");
            return Ok(None);
        }
        progress(&format!("making the image {}", key.name()));
        image::keep_image(home, key, &data, &self.password, progress).map(Some)
    }

    /// Ends it, whatever it does, and starts it on a fresh copy of `image`.
    ///
    /// # Errors
    /// As [`Server::start_from`]; it is down then.
    pub fn restore_image(&mut self, image: &Image) -> Result<(), SandboxError> {
        drop(self.kept.take());
        kill_servers_in(&*self.machine, &self.servers, self.ground.dir());
        let data = self.data_dir();
        remove_shared_memory(&data);
        fs::remove_dir_all(&data).map_err(SandboxError::io("remove", &data))?;
        self.start_over(image)
    }

    fn start_over(&mut self, image: &Image) -> Result<(), SandboxError> {
        let used = image.begin_use()?;
        let what = format!("starting {} from {}", self.what, image.name);
        space::require_free_space(&what, self.ground.dir(), image.mb.saturating_add(SLACK_MB))?;
        self.password.clone_from(&used.template.password);
        copy_data(&used.template.data, &self.data_dir())?;
        self.launch_process()
    }

    /// Shuts it down with nothing left to do: no row versions to purge, no changes of indexes to
    /// merge, and a small redo log, which the next start makes anew.
    fn come_to_rest(&mut self) -> Result<(), SandboxError> {
        self.go_down(REST_WITHIN_S)?;
        if self.release.product.dialect() == Dialect::Postgres {
            return Ok(());
        }
        let mut resting = self.settings.clone();
        resting.extend(template::at_rest(self.release.product, &self.release.version));
        let usual = std::mem::replace(&mut self.settings, resting);
        let launched = self.launch_process();
        self.settings = usual;
        launched?;
        self.go_down(REST_WITHIN_S)?;
        template::drop_fixed_redo(&self.release, &self.data_dir())
    }
}
