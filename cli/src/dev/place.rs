//! Where `hera dev` keeps its data: a folder named after the folder of jobs. Touches no disk.

use std::path::{Path, PathBuf};

/// Characters of the readable part of a name.
const READABLE_MAX: usize = 40;

/// The folder in which everything of `hera dev` lies: `$XDG_DATA_HOME/hera`, else
/// `~/.local/share/hera`, else in the temporary folder.
pub(crate) fn base(data_home: Option<PathBuf>, home: Option<PathBuf>) -> PathBuf {
    data_home
        .filter(|path| path.is_absolute())
        .or_else(|| home.filter(|path| path.is_absolute()).map(|home| home.join(".local/share")))
        .unwrap_or_else(std::env::temp_dir)
        .join("hera")
}

/// [`base`] of this process.
pub(crate) fn own_base() -> PathBuf {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    base(variable("XDG_DATA_HOME"), variable("HOME"))
}

/// The name for the data of the jobs in `folder`, an absolute path: its last part, to be read, and a
/// number of the whole path, to tell it from others. Without a folder: `no-folder`.
pub(crate) fn name(folder: Option<&Path>) -> String {
    let Some(folder) = folder else { return "no-folder".to_owned() };
    let last =
        folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let readable: String = last
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' })
        .take(READABLE_MAX)
        .collect();
    format!("{readable}-{:016x}", number(folder.as_os_str().as_encoded_bytes()))
}

/// FNV-1a, 64 bits: the same in every release, which the hash of the standard library is not.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{base, name, number};

    #[test]
    fn a_folder_has_one_name_and_no_two_share_it() {
        assert_eq!(name(Some(Path::new("/home/ann/weather"))), "weather-efb2ad90c33ae9d2");
        assert_eq!(name(Some(Path::new("/home/ben/weather"))), "weather-512d3b09e8366210");
        assert_eq!(name(Some(Path::new("/jobs/ü ber"))).split_at(6).0, "--ber-");
        assert_eq!(name(Some(Path::new("/"))), "-af63a24c860189fe");
        assert_eq!(name(None), "no-folder");
        assert_eq!(number(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_base_follows_the_environment() {
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(base(path("/data"), path("/home/ann")), Path::new("/data/hera"));
        assert_eq!(base(None, path("/home/ann")), Path::new("/home/ann/.local/share/hera"));
        assert_eq!(base(path("relative"), path("/h")), Path::new("/h/.local/share/hera"));
        assert_eq!(base(None, None), std::env::temp_dir().join("hera"));
    }
}
