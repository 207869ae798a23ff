//! How much memory there is: what the system, the limits of its control groups and
//! those of the process leave.

use std::fs;
use std::path::Path;

use linkproof_method::error::in_bytes;

/// How the system calls the limit of the address space.
const ADDRESSES: &str = "Max address space";

/// How much more memory this process can have, and what says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Available {
    /// So many bytes, beside those that it holds already.
    pub bytes: u64,
    /// What sets the bound, in words.
    pub by: String,
    /// The bytes that it holds already, of those that only it can give back: pages of
    /// the program's own file, which the system can drop and read again, do not count.
    pub held: u64,
}

impl Available {
    /// Asks the system. None where it does not tell.
    pub fn now() -> Option<Available> {
        Available::by(Path::new("/"))
    }

    /// All that the process can hold.
    pub fn in_all(&self) -> u64 {
        self.bytes.saturating_add(self.held)
    }

    /// The least of all bounds, by files below a root.
    fn by(root: &Path) -> Option<Available> {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let status = text("proc/self/status").unwrap_or_default();
        let of_status = |name: &str| kilobytes(&status, name).unwrap_or(0);
        let mut bounds = Vec::new();
        if let Some(memory) = text("proc/meminfo") {
            let free = kilobytes(&memory, "MemAvailable:");
            let swap = kilobytes(&memory, "SwapFree:").unwrap_or(0);
            bounds.extend(free.map(|free| (free + swap, "free on this machine".to_owned())));
        }
        if let Some(limits) = text("proc/self/limits") {
            for (name, held) in [(ADDRESSES, "VmSize:"), ("Max data size", "VmData:")] {
                if let Some(limit) = soft_limit(&limits, name) {
                    let left = limit.saturating_sub(of_status(held));
                    bounds.push((
                        left,
                        format!("left of the process's limit of {}", in_bytes(limit)),
                    ));
                }
            }
        }
        if let Some(groups) = text("proc/self/cgroup") {
            bounds.extend(groups.lines().flat_map(|line| group_bounds(root, line)));
        }
        let (bytes, by) = bounds.into_iter().min_by_key(|(bytes, _)| *bytes)?;
        Some(Available {
            bytes,
            by,
            held: kilobytes(&status, "RssAnon:").unwrap_or_else(|| of_status("VmRSS:")),
        })
    }
}

/// Where the address space is limited, lets all threads that start from now on take their
/// memory from one pool. Else the system's allocator sets 64 MB of addresses aside for each
/// of them, whatever they need.
pub fn share_one_pool() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        if soft_limit(&limits, ADDRESSES).is_some() {
            // SAFETY: a setting of the allocator, which may change at any time.
            unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
        }
    }
}

/// The number after a name, which counts kilobytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(number * 1024)
}

/// A soft limit of the process, in bytes; none where there is no limit.
fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What a control group leaves, and those that it is in.
fn group_bounds(root: &Path, line: &str) -> Vec<(u64, String)> {
    let mut parts = line.splitn(3, ':');
    let (Some(_), Some(controllers), Some(group)) = (parts.next(), parts.next(), parts.next())
    else {
        return Vec::new();
    };
    let (base, limit, used, cache) = match controllers {
        "" => (
            "sys/fs/cgroup",
            "memory.max",
            "memory.current",
            "inactive_file ",
        ),
        list if list.split(',').any(|one| one == "memory") => (
            "sys/fs/cgroup/memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file ",
        ),
        _ => return Vec::new(),
    };
    let base = root.join(base);
    let inner = base.join(group.trim_start_matches('/'));
    // Inside a container the group's own path is often not to be seen, and its root
    // is the group.
    let folders = inner
        .ancestors()
        .take_while(|folder| folder.starts_with(&base));
    let number =
        |path: &Path| -> Option<u64> { fs::read_to_string(path).ok()?.trim().parse().ok() };
    let bound = |folder: &Path| {
        // Without a limit there is a word instead, or a number that no machine has.
        let limit = number(&folder.join(limit)).filter(|&limit| limit < 1 << 60)?;
        let used = number(&folder.join(used)).unwrap_or(0);
        let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let of_files = stat
            .lines()
            .find_map(|line| line.strip_prefix(cache)?.parse::<u64>().ok());
        let used = used.saturating_sub(of_files.unwrap_or(0));
        let by = format!("left of the control group's limit of {}", in_bytes(limit));
        Some((limit.saturating_sub(used), by))
    };
    folders.filter_map(bound).collect()
}

/// An amount as typed: `500MB`, `4G`, `2GiB`; a plain number counts bytes.
pub fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let unit = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bytes = number * unit;
    (1.0..1e18).contains(&bytes).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(files: &[(&str, &str)]) -> (tempfile::TempDir, Option<Available>) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = Available::by(root.path());
        (root, found)
    }

    const STATUS: (&str, &str) = ("proc/self/status", "VmSize:\t 2000 kB\nVmRSS:\t 1000 kB\n");
    const MEMORY: (&str, &str) = (
        "proc/meminfo",
        "MemTotal: 9000 kB\nMemAvailable:   8000 kB\nSwapFree: 1000 kB\n",
    );

    #[test]
    fn the_least_of_all_bounds_counts() {
        assert_eq!(system(&[]).1, None);
        let (_root, machine) = system(&[STATUS, MEMORY]);
        let machine = machine.unwrap();
        assert_eq!((machine.bytes, machine.held), (9000 * 1024, 1000 * 1024));
        assert_eq!(machine.in_all(), 10_000 * 1024);
        let status = "VmRSS:\t 1000 kB\nRssAnon:\t 300 kB\nRssFile:\t 700 kB\n";
        let (_root, machine) = system(&[("proc/self/status", status), MEMORY]);
        assert_eq!(machine.unwrap().held, 300 * 1024);

        let limits = "Limit   Soft Limit  Hard Limit  Units\n\
                      Max data size             unlimited            unlimited            bytes\n\
                      Max address space         4096000              unlimited            bytes\n";
        let (_root, limited) = system(&[STATUS, MEMORY, ("proc/self/limits", limits)]);
        let limited = limited.unwrap();
        assert_eq!(limited.bytes, 4_096_000 - 2000 * 1024);
        assert!(
            limited.by.contains("process's limit of 4.1 MB"),
            "{}",
            limited.by
        );
    }

    #[test]
    fn control_groups_of_both_kinds_count_and_so_do_those_around_them() {
        let new = [
            STATUS,
            MEMORY,
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
            ("sys/fs/cgroup/outer/memory.max", "3000000\n"),
            ("sys/fs/cgroup/outer/memory.current", "2000000\n"),
            (
                "sys/fs/cgroup/outer/memory.stat",
                "anon 5\ninactive_file 500000\n",
            ),
        ];
        let (_root, found) = system(&new);
        let found = found.unwrap();
        assert_eq!(found.bytes, 1_500_000);
        assert!(
            found.by.contains("control group's limit of 3 MB"),
            "{}",
            found.by
        );
        let old = [
            STATUS,
            MEMORY,
            ("proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/abc\n"),
            // Only the root is mounted, as in a container.
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n"),
        ];
        assert_eq!(system(&old).1.unwrap().bytes, 1_500_000);
        let endless = [
            STATUS,
            MEMORY,
            ("proc/self/cgroup", "4:memory:/\n"),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
        ];
        assert_eq!(system(&endless).1.unwrap().bytes, 9000 * 1024);
    }

    #[test]
    fn amounts_are_read_and_told() {
        for (text, expected) in [
            ("1", Some(1)),
            ("500MB", Some(500_000_000)),
            ("1.5 g", Some(1_500_000_000)),
            ("2KiB", Some(2048)),
            ("0", None),
            ("-1", None),
            ("many", None),
            ("1e3", None),
            ("", None),
            ("99999999TB", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
        for (amount, words) in [
            (999, "999 bytes"),
            (1_500_000, "1.5 MB"),
            (2_000_000_000, "2 GB"),
        ] {
            assert_eq!(in_bytes(amount), words);
            assert_eq!(bytes(&words.replace(" bytes", "")), Some(amount));
        }
    }
}
