//! The available memory, and checks before an allocation would exceed it.
//!
//! What may be allocated is the least of what the system reports as available, what is left below the limits of the process
//! (control groups, `ulimit -v`), and what the environment variable `LDLF_MEMORY` allows (`500MB`, `8GB`).

use std::path::Path;
use std::sync::OnceLock;

use crate::{Error, Result};

/// The environment variable that limits the memory.
pub const VARIABLE: &str = "LDLF_MEMORY";

/// Assumed where the system does not say: the memory of a very large machine.
const UNKNOWN: usize = 64 << 30;

/// The memory that may be allocated now, in bytes.
pub fn available() -> Result<usize> {
    let known = [from_meminfo("MemAvailable:"), from_control_groups(), from_address_space()];
    let free = known.into_iter().flatten().min().unwrap_or(UNKNOWN);
    Ok(allowed()?.map_or(free, |most| most.min(free)))
}

/// What [`VARIABLE`] allows; read once.
fn allowed() -> Result<Option<usize>> {
    static ALLOWED: OnceLock<std::result::Result<Option<usize>, String>> = OnceLock::new();
    let read = || match std::env::var(VARIABLE) {
        Err(_) => Ok(None),
        Ok(text) => size(&text)
            .map(Some)
            .ok_or_else(|| format!("{VARIABLE} must be a size such as 500MB or 8GB, got {text:?}")),
    };
    ALLOWED.get_or_init(read).clone().map_err(Error::Resources)
}

/// A size in bytes as people write it: a number and, if need be, KB, MB, GB or TB.
pub fn size(text: &str) -> Option<usize> {
    let text = text.trim().to_ascii_uppercase();
    let units = [("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("", 1.0)];
    let (number, factor) =
        units.iter().find_map(|(unit, factor)| text.strip_suffix(unit).map(|n| (n, factor)))?;
    let bytes = number.trim().parse::<f64>().ok()? * factor;
    (bytes.is_finite() && bytes >= 1.0).then_some(bytes as usize)
}

/// A line of what Linux reports of its memory, in bytes.
fn from_meminfo(name: &str) -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<usize>().ok()?.checked_mul(1024)
}

/// What is left of the control groups' limits, from the process's own group up to the root.
fn from_control_groups() -> Option<usize> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let number = |path: &Path| std::fs::read_to_string(path).ok()?.trim().parse::<usize>().ok();
    let left = |line: &str| -> Option<usize> {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let (root, limit, used, cache) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "),
            _ if controllers.split(',').any(|name| name == "memory") => {
                let (limit, used) = ("memory.limit_in_bytes", "memory.usage_in_bytes");
                ("/sys/fs/cgroup/memory", limit, used, "total_inactive_file ")
            }
            _ => return None,
        };
        let group = Path::new(path.trim_start_matches('/'));
        let of = |group: &Path| {
            let folder = Path::new(root).join(group);
            // Inactive pages of files are reclaimed when memory is needed.
            let statistics = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
            let cached = statistics.lines().find_map(|line| line.strip_prefix(cache)?.parse::<usize>().ok());
            let used = number(&folder.join(used))?.saturating_sub(cached.unwrap_or(0));
            Some(number(&folder.join(limit))?.saturating_sub(used))
        };
        group.ancestors().filter_map(of).min()
    };
    groups.lines().filter_map(left).min()
}

/// What is left of the address space where it is limited.
fn from_address_space() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most = line.split_whitespace().next()?.parse::<usize>().ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let used = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let used = used.split_whitespace().next()?.parse::<usize>().ok()?.saturating_mul(1024);
    Some(most.saturating_sub(used))
}

/// Refuses sizes that need more memory than is available, with the arithmetic.
///
/// ```
/// use ldlf_math::memory::check;
/// check("the leaves", &[("trees", 10), ("leaves", 32), ("labels", 5)], 4)?;
/// let refused = check("the leaves", &[("trees", 1_000_000), ("leaves", 1 << 29)], 4).unwrap_err().to_string();
/// assert!(refused.starts_with("the leaves would take 1000000 trees x 536870912 leaves x 4 bytes = 2147483.6 GB"));
/// # Ok::<(), ldlf_math::Error>(())
/// ```
pub fn check(what: &str, factors: &[(&str, usize)], bytes_each: usize) -> Result<()> {
    let bytes = factors.iter().try_fold(bytes_each, |product, (_, factor)| product.checked_mul(*factor));
    // Querying the system takes longer than a small allocation.
    if bytes.is_some_and(|bytes| bytes <= SMALL) {
        return Ok(());
    }
    let available = available()?;
    if bytes.is_some_and(|bytes| bytes <= available) {
        return Ok(());
    }
    let arithmetic: Vec<String> = factors.iter().map(|(name, factor)| format!("{factor} {name}")).collect();
    let whole = factors.iter().fold(bytes_each as f64, |product, (_, factor)| product * *factor as f64);
    Err(Error::Resources(format!(
        "{what} would take {} x {bytes_each} bytes = {}, but {} are available; choose smaller sizes",
        arithmetic.join(" x "),
        shown(whole),
        shown(available as f64)
    )))
}

/// Allocations up to this size are not checked.
const SMALL: usize = 1 << 20;

/// `1.5 GB`, or `20.0 MB` for less than one.
fn shown(bytes: f64) -> String {
    if bytes >= 1e9 { format!("{:.1} GB", bytes / 1e9) } else { format!("{:.1} MB", bytes / 1e6) }
}

/// Checks memory that grows while a file is read: a small compressed file may expand a lot.
#[derive(Debug)]
pub struct Growth {
    /// The size at which to check again.
    next: usize,
}

impl Default for Growth {
    fn default() -> Self {
        Growth { next: 16 << 20 }
    }
}

impl Growth {
    /// `bytes` are held and may double before the next check; an error where there is not enough memory for that.
    pub fn reached(&mut self, bytes: usize) -> std::result::Result<(), String> {
        if bytes < self.next {
            return Ok(());
        }
        self.next = bytes.saturating_mul(2);
        let available = available().map_err(|e| e.to_string())?;
        if bytes <= available {
            return Ok(());
        }
        Err(format!(
            "{} are read and there is more, but {} of memory are left; give fewer rows or columns",
            shown(bytes as f64),
            shown(available as f64)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_are_refused_with_the_arithmetic() {
        let sizes = [("trees", 1_000_000), ("leaves", 1 << 29), ("labels", 5)];
        let error = check("the leaves", &sizes, 4).unwrap_err().to_string();
        assert!(error.contains("1000000 trees x 536870912 leaves x 5 labels x 4 bytes"), "{error}");
        assert!(check("x", &[("a", usize::MAX), ("b", 3)], 8).is_err(), "overflow is no way in");
        check("small", &[("a", 10)], 4).unwrap();
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(size("500MB"), Some(500_000_000));
        assert_eq!(size(" 1.5 gb "), Some(1_500_000_000));
        assert_eq!(size("4096"), Some(4096));
        for bad in ["", "GB", "-1GB", "much", "inf", "0"] {
            assert_eq!(size(bad), None, "{bad:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_machine_says_what_it_has() {
        let bytes = available().unwrap();
        // What is free changes while the test runs; what the machine has does not.
        assert!(bytes > 1 << 20 && from_meminfo("MemTotal:").is_some_and(|all| bytes <= all), "{bytes}");
    }
}
