//! The short run: every file of the corpus through its target, and changes of it that are the same on every machine.

#![expect(clippy::panic, clippy::print_stderr, clippy::unwrap_used, reason = "this whole file is tests")]

use std::fs;
use std::path::{Path, PathBuf};

use context_guard_fuzz::{TARGETS, Target};
use fastrand::Rng;

/// Changed inputs for each target.
const CHANGED: usize = 60;

fn corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Takes a part of another input, doubles, drops or overwrites a stretch, or changes single bytes.
fn changed(random: &mut Rng, inputs: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
    let pick = |random: &mut Rng| inputs[random.usize(..inputs.len())].1.clone();
    let mut data = pick(random);
    for _ in 0..random.usize(1..6) {
        let at = random.usize(..=data.len());
        let end = data.len().min(at + random.usize(0..64));
        match random.usize(..5) {
            0 => {
                let other = pick(random);
                let from = random.usize(..=other.len());
                let to = other.len().min(from + random.usize(0..400));
                data.splice(at..at, other[from..to].iter().copied());
            }
            1 => drop(data.drain(at..end)),
            2 => {
                let stretch = data[at..end].to_vec();
                data.splice(at..at, stretch);
            }
            3 => data[at..end].fill(random.u8(..)),
            _ => data[at..end].iter_mut().take(1).for_each(|byte| *byte ^= 1 << random.u8(..8)),
        }
    }
    data
}

fn short_run(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let inputs = corpus(target);
    for (path, data) in &inputs {
        // Tells where a failure is to be looked for.
        eprintln!("{}", path.display());
        (target.run)(data);
    }
    let mut random = Rng::with_seed(5);
    for number in 0..CHANGED {
        let data = changed(&mut random, &inputs);
        eprintln!("changed input {number}: {:?}", String::from_utf8_lossy(&data[..data.len().min(2_000)]));
        (target.run)(&data);
    }
}

macro_rules! short_runs {
    ($($name:ident)*) => {
        $(#[test] fn $name() { short_run(stringify!($name)); })*

        #[test]
        fn every_target_has_its_short_run() {
            let mut names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            names.sort_unstable();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

short_runs! { answers cuts deltas images patterns rpc secrets sessions settings }
