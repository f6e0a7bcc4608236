//! The scripted classifier by itself, for hosts that are not Pi.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;
use tempfile::TempDir;

use super::installed::Installed;
use super::server::Server;

/// A classifier on loopback, ended when it is dropped.
pub struct Classifier {
    server: Server,
    folder: TempDir,
}

impl Classifier {
    /// Starts one that wants this key and answers by these rules, which `lab/fake-jev.mjs` describes.
    ///
    /// # Errors
    ///
    /// Fails when Node is missing, or when it does not start.
    pub fn start(key: &str, rules: &Value) -> Result<Self> {
        let folder = TempDir::new()?;
        let file = folder.path().join("rules.json");
        fs::write(&file, rules.to_string())?;
        let arguments: [&OsStr; 4] = ["--key".as_ref(), key.as_ref(), "--rules".as_ref(), file.as_ref()];
        let out = folder.path().join("requests");
        let server = Server::start(&Installed::scripts()?, "fake-jev.mjs", &arguments, &out)?;
        Ok(Self { server, folder })
    }

    /// Its origin, `http://127.0.0.1:PORT`.
    pub fn origin(&self) -> String {
        self.server.url()
    }

    /// Whether anybody connected.
    pub fn was_reached(&self) -> bool {
        self.requests().join("connections").is_file()
    }

    /// The requests that arrived, as JSON texts.
    ///
    /// # Errors
    ///
    /// Fails when they cannot be read.
    pub fn received(&self) -> Result<Vec<String>> {
        let files = fs::read_dir(self.requests())?.map(|entry| Ok(entry?.path()));
        let mut files = files.collect::<Result<Vec<PathBuf>>>()?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        files.into_iter().map(|file| Ok(fs::read_to_string(file)?)).collect()
    }

    fn requests(&self) -> PathBuf {
        self.folder.path().join("requests")
    }
}
