//! An npm registry on loopback that has what a test published.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::installed::Installed;
use super::server::Server;

/// The registry, ended when it is dropped.
pub struct Registry {
    server: Server,
    directory: TempDir,
}

impl Registry {
    /// Starts a registry without any package.
    ///
    /// # Errors
    ///
    /// Fails when Node is missing.
    pub fn start() -> Result<Self> {
        let directory = TempDir::new()?;
        let (shelf, out) = (directory.path().join("tarballs"), directory.path().join("out"));
        fs::create_dir(&shelf)?;
        let arguments: [&OsStr; 2] = ["--dir".as_ref(), shelf.as_ref()];
        let server = Server::start(&Installed::scripts()?, "fake-registry.mjs", &arguments, &out)?;
        Ok(Self { server, directory })
    }

    /// Publishes the package of a tarball.
    ///
    /// # Errors
    ///
    /// Fails when the tarball cannot be copied.
    pub fn publish(&self, tarball: &Path) -> Result<()> {
        let name = tarball.file_name().context("a tarball is a file")?;
        fs::copy(tarball, self.directory.path().join("tarballs").join(name))
            .with_context(|| format!("{} cannot be published", tarball.display()))?;
        Ok(())
    }

    /// What npm is told to use it.
    pub fn npmrc(&self) -> String {
        format!("registry={}/\n", self.server.url())
    }
}
