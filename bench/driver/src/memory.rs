//! What the system says about this process's memory.

/// A field of the process's status, in megabytes, where the system tells:
/// `VmHWM:` is the most it has held, `VmRSS:` what it holds.
pub fn megabytes(field: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1024.0)
}
