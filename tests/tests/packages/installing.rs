//! Installed from a registry, and removed.

use anyhow::Result;
use serde_json::json;

use crate::clean_home::{CleanHome, SOURCE};

#[test]
fn installed_from_a_registry_it_distills() -> Result<()> {
    let home = CleanHome::new()?;
    home.install()?;
    assert!(home.runner_package()?.join("context-guard").is_file());
    home.distills()
}
