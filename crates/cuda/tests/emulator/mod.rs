//! Builds the emulated card (`README.md` beside this file) and runs this program again on it.

pub mod equipment;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

/// The order in which blocks and threads run.
pub const ORDER: &str = "LINKPROOF_EMULATOR_ORDER";
/// What a run on the emulated card is to do.
const TASK: &str = "LINKPROOF_EMULATOR_TASK";

const DRIVER: &str = include_str!("driver.cpp");
const KERNEL: &str = include_str!("kernel.h");

/// What this run is to do, if it is one on the emulated card.
pub fn task() -> Option<String> {
    std::env::var(TASK).ok()
}

/// The folder with the emulated card, built; an error in words where it cannot be.
pub fn built() -> Result<PathBuf, String> {
    let mut version = Command::new("g++");
    let version = version.arg("--version").stdout(Stdio::null()).status();
    if !version.is_ok_and(|status| status.success()) {
        return Err("this machine has no g++ to build an emulated card with".to_owned());
    }
    let digest = Sha256::new().chain_update(DRIVER).chain_update(KERNEL);
    let digest: String = digest.finalize()[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("emulator-{digest}"));
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text);
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    write("kernel.h", KERNEL).map_err(|error| error.to_string())?;
    write("driver.cpp", DRIVER).map_err(|error| error.to_string())?;
    let library = folder.join("libcuda.so");
    if !library.exists() {
        let part = folder.join(format!("{}.so", std::process::id()));
        let made = Command::new("g++")
            .args("-O2 -std=c++17 -shared -fPIC -Wall -U_FORTIFY_SOURCE -o".split(' '))
            .args([&part, &folder.join("driver.cpp")])
            .args(["-ldl", "-lpthread"])
            .status();
        assert!(
            made.is_ok_and(|status| status.success()),
            "driver.cpp does not compile"
        );
        std::fs::rename(&part, &library).map_err(|error| error.to_string())?;
    }
    let nvrtc = folder.join("libnvrtc.so");
    if !nvrtc.exists() {
        // Another process may be faster.
        let _ = std::os::unix::fs::symlink("libcuda.so", nvrtc);
    }
    Ok(folder)
}

/// What this program printed on the emulated card; none where it failed.
fn tried(folder: &Path, task: &str, order: &str, errors: Stdio) -> Option<String> {
    let own = std::env::current_exe().expect("this program has a path");
    let others = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let run = Command::new(own)
        .env(TASK, task)
        .env(ORDER, order)
        .env("LINKPROOF_EMULATOR", folder)
        // Its kernels are no one else's.
        .env("XDG_CACHE_HOME", folder)
        .env("LD_LIBRARY_PATH", format!("{}:{others}", folder.display()))
        .stderr(errors)
        .output()
        .expect("it runs again");
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    run.status.success().then_some(said)
}

/// Runs this program on the emulated card; what it printed.
pub fn run(folder: &Path, task: &str, order: &str) -> String {
    let said = tried(folder, task, order, Stdio::inherit());
    said.unwrap_or_else(|| panic!("{task}, {order}: failed on the emulated card"))
}
