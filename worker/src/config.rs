//! Settings of a worker: as written on the command line, and as checked once for the program. Opens nothing.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use hera_common::limits::{ADDRESS, CAPACITY_MAX};
use hera_common::shift::Shift;
use hera_common::worker::check_name;

/// Below this a disk is full tomorrow; MiB.
const MIN_FREE_MB: u64 = 256;

/// The command line of `hera-worker`, with every default.
#[derive(Debug, Clone, Parser)]
#[command(name = "hera-worker", version, about = "Executes what a master hands out")]
pub struct Args {
    /// Masters to ask, any of them; the one that leads is found.
    #[arg(
        long,
        env = "HERA_MASTER",
        value_name = "URL",
        value_delimiter = ',',
        default_value = ADDRESS
    )]
    pub master: Vec<String>,
    /// Where this worker keeps attempts while they run, and ends that nobody has taken. Its own alone.
    #[arg(long, env = "HERA_STATE_DIR", value_name = "DIR", default_value = "hera-worker-state")]
    pub state_dir: PathBuf,
    /// Its name; without it, the host's, made longer where another worker has that.
    #[arg(long, env = "HERA_NAME", value_name = "NAME")]
    pub name: Option<String>,
    /// How many attempts it takes at once; without it, two for each processor.
    #[arg(long, env = "HERA_CAPACITY", value_name = "N")]
    pub capacity: Option<u32>,
    /// A host group that it serves; may be given more than once.
    #[arg(long, env = "HERA_HOST_GROUP", value_name = "NAME", value_delimiter = ',')]
    pub host_group: Vec<String>,
    /// Something to know it by; may be given more than once.
    #[arg(long, env = "HERA_LABEL", value_name = "KEY=VALUE", value_delimiter = ',')]
    pub label: Vec<String>,
    /// On TERM, how long running attempts may go on (30s, 5min, 2h); without it, to their end.
    #[arg(long, env = "HERA_DRAIN_WITHIN", value_name = "SPAN")]
    pub drain_within: Option<String>,
    /// Takes nothing while less than this is free on the disk of the state directory, MiB.
    #[arg(long, env = "HERA_MIN_FREE_MB", value_name = "MIB", default_value_t = MIN_FREE_MB)]
    pub min_free_mb: u64,
    /// Keeps the directories of attempts that have ended.
    #[arg(long, env = "HERA_KEEP_DIRS")]
    pub keep_dirs: bool,
    /// How log lines look.
    #[arg(long, env = "HERA_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// What is logged: a level, or `target=level,…`.
    #[arg(long, env = "HERA_LOG", value_name = "FILTER", default_value = "info")]
    pub log: String,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One object a line.
    Json,
}

/// Settings as the program uses them.
#[derive(Debug, Clone)]
pub struct Config {
    /// At least one.
    pub masters: Vec<String>,
    pub state_dir: PathBuf,
    pub name: String,
    /// The name was made up, and may be made longer.
    pub name_is_made_up: bool,
    /// 1 to 10,000.
    pub capacity: u32,
    pub host_groups: Vec<String>,
    /// `key=value`.
    pub labels: Vec<String>,
    /// None: running attempts may end.
    pub drain_within: Option<Duration>,
    pub min_free_bytes: u64,
    pub keep_dirs: bool,
    /// The program that becomes the spawner; None: this one.
    pub spawner: Option<PathBuf>,
}

/// A setting that cannot be.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    #[error("--master must name at least one master")]
    NoMaster,
    #[error("--name {0:?} {1}")]
    Name(String, String),
    #[error("--capacity {0} must be 1 to {CAPACITY_MAX}")]
    Capacity(u32),
    #[error("--label {0:?} must be KEY=VALUE")]
    Label(String),
    #[error("--drain-within {0:?} must be a span such as 30s, 5min or 2h")]
    DrainWithin(String),
}

impl Config {
    /// A worker for the masters at these addresses, with every default.
    pub fn new(masters: Vec<String>, state_dir: PathBuf) -> Self {
        Self {
            masters,
            state_dir,
            name: host_name(),
            name_is_made_up: true,
            capacity: capacity_default(),
            host_groups: Vec::new(),
            labels: Vec::new(),
            drain_within: None,
            min_free_bytes: bytes(MIN_FREE_MB),
            keep_dirs: false,
            spawner: None,
        }
    }
}

impl Args {
    /// Checks all settings.
    ///
    /// # Errors
    /// Names the first one that cannot be.
    pub fn check(self) -> Result<Config, ConfigError> {
        let masters: Vec<String> =
            self.master.iter().map(|m| m.trim().to_owned()).filter(|m| !m.is_empty()).collect();
        if masters.is_empty() {
            return Err(ConfigError::NoMaster);
        }
        let name_is_made_up = self.name.is_none();
        let name = self.name.unwrap_or_else(host_name);
        if let Err(problem) = check_name(&name) {
            return Err(ConfigError::Name(name, problem));
        }
        let capacity = self.capacity.unwrap_or_else(capacity_default);
        if !(1..=CAPACITY_MAX).contains(&capacity) {
            return Err(ConfigError::Capacity(capacity));
        }
        if let Some(label) = self.label.iter().find(|label| !label.contains('=')) {
            return Err(ConfigError::Label(label.clone()));
        }
        let drain_within = self.drain_within.map(drain_within).transpose()?;
        Ok(Config {
            masters,
            state_dir: self.state_dir,
            name,
            name_is_made_up,
            capacity,
            host_groups: self.host_group,
            labels: self.label,
            drain_within,
            min_free_bytes: bytes(self.min_free_mb),
            keep_dirs: self.keep_dirs,
            spawner: None,
        })
    }
}

fn drain_within(text: String) -> Result<Duration, ConfigError> {
    match Shift::parse(&text) {
        Ok(Shift::Elapsed { ms }) => u64::try_from(ms)
            .map(Duration::from_millis)
            .map_err(|_negative| ConfigError::DrainWithin(text)),
        Ok(
            Shift::Days { .. }
            | Shift::BusinessDays { .. }
            | Shift::Months { .. }
            | Shift::Slots { .. },
        )
        | Err(_) => Err(ConfigError::DrainWithin(text)),
    }
}

const fn bytes(mib: u64) -> u64 {
    mib.saturating_mul(1 << 20)
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Scripts wait more than they compute.
fn capacity_default() -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(processors.saturating_mul(2)).unwrap_or(CAPACITY_MAX).min(CAPACITY_MAX)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn check(args: &[&str]) -> Result<Config, ConfigError> {
        let program = std::iter::once(&"hera-worker");
        Args::try_parse_from(program.chain(args)).unwrap().check()
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_worker_made_without_a_command_line_has_the_same_defaults() {
        let typed = check(&[]).unwrap();
        let made = Config::new(vec![ADDRESS.to_owned()], "hera-worker-state".into());
        assert_eq!(format!("{typed:?}"), format!("{made:?}"));
    }

    #[test]
    fn masters_are_listed_or_repeated() {
        let config = check(&["--master", "http://a,b:1", "--master", "c:2"]).unwrap();
        assert_eq!(config.masters, ["http://a", "b:1", "c:2"]);
        assert!(config.name_is_made_up && config.capacity >= 2);
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let refused = |args: &[&str]| check(args).unwrap_err().to_string();
        assert_eq!(refused(&["--capacity", "0"]), "--capacity 0 must be 1 to 10000");
        assert_eq!(
            refused(&["--name", "a b"]),
            "--name \"a b\" must be 1 to 100 bytes of letters, digits and . _ - ~ : @, and begin with no dot"
        );
        assert_eq!(refused(&["--label", "x"]), "--label \"x\" must be KEY=VALUE");
        for bad in ["5m", "1d", "-3s", "soon"] {
            let told = refused(&[&format!("--drain-within={bad}")]);
            assert!(told.ends_with("must be a span such as 30s, 5min or 2h"), "{told}");
        }
        let config = check(&["--drain-within", "5min"]).unwrap();
        assert_eq!(config.drain_within, Some(Duration::from_secs(300)));
    }
}
