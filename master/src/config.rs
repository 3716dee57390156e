//! Settings of a master: as written on the command line, and as checked once for the program. It must not open anything.

mod timing;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;
use hera_common::doc::GroupDoc;
use hera_common::limits::ADDRESS;
pub use hera_store::{Place, StoreKind};

pub use timing::{LeaderTiming, Timing, TimingArgs, WorkerTiming};

/// The command line of `hera-master`, with every default.
#[derive(Debug, Clone, Parser)]
#[command(name = "hera-master", version, about = "Decides what runs, and hands it to workers")]
pub struct Args {
    /// Where jobs and runs are kept: `sqlite:DIR` or `postgres://…`.
    #[arg(long, env = "HERA_STORE", value_name = "URL", hide_env_values = true)]
    pub store: Option<String>,
    /// Where to listen; a loopback address (port 0: any free one).
    #[arg(long, env = "HERA_LISTEN", value_name = "ADDR", default_value = ADDRESS)]
    pub listen: SocketAddr,
    /// Listens here instead, without TLS and tokens, though others may reach it.
    #[arg(long, env = "HERA_INSECURE_LISTEN", value_name = "ADDR")]
    pub insecure_listen: Option<SocketAddr>,
    /// The address under which workers and clients reach this master; without it, the host name and the port.
    #[arg(long, env = "HERA_ADVERTISE", value_name = "ADDR")]
    pub advertise: Option<String>,
    /// The same as `--store sqlite:DIR`.
    #[arg(
        long,
        env = "HERA_DATA_DIR",
        value_name = "DIR",
        default_value = "hera-data",
        conflicts_with = "store"
    )]
    pub data_dir: PathBuf,
    /// How log lines look.
    #[arg(long, env = "HERA_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// What is logged: a level, or `target=level,…`.
    #[arg(long, env = "HERA_LOG", value_name = "FILTER", default_value = "info")]
    pub log: String,
    #[command(flatten)]
    pub timing: TimingArgs,
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
    pub store: Place,
    pub listen: SocketAddr,
    /// The port speaks without TLS and tokens, and others may reach it.
    pub insecure: bool,
    /// None: made from the host's name and the port, once it is bound.
    pub advertise: Option<String>,
    pub timing: Timing,
    /// What holds above all groups: `hera dev` sets `hera.dir` and its own defaults here.
    pub base: GroupDoc,
}

/// A setting that is refused, by its flag.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--{field} {problem}")]
pub struct ConfigError {
    /// The flag, without its dashes.
    pub field: &'static str,
    pub problem: String,
}

impl ConfigError {
    pub(crate) fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }
}

impl Args {
    /// Checks all settings.
    ///
    /// # Errors
    /// The first one that cannot be.
    pub fn check(self) -> Result<Config, ConfigError> {
        let Self { store, listen, insecure_listen, advertise, data_dir, timing, .. } = self;
        let store = match store {
            Some(text) => {
                Place::parse(&text).map_err(|bad| ConfigError::new("store", bad.to_string()))?
            }
            None => Place::Folder(data_dir),
        };
        if insecure_listen.is_none() && !listen.ip().is_loopback() {
            let problem = format!(
                "{listen} can be reached by others, and there is no TLS: to allow that, give --insecure-listen {listen}"
            );
            return Err(ConfigError::new("listen", problem));
        }
        let listen = insecure_listen.unwrap_or(listen);
        let advertise = advertise.as_deref().map(advertised).transpose()?;
        let insecure = !listen.ip().is_loopback();
        let timing = timing.check()?;
        let base = GroupDoc::default();
        Ok(Config { store, listen, insecure, advertise, timing, base })
    }
}

/// `HOST:PORT` or a URL, as a URL.
fn advertised(text: &str) -> Result<String, ConfigError> {
    let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let rest = url.split_once("://").map_or("", |(_scheme, rest)| rest);
    let port = rest.rsplit_once(':').and_then(|(_host, port)| port.parse::<u16>().ok());
    match port {
        Some(port) if port > 0 && !rest.starts_with(':') => Ok(url),
        Some(_) | None => Err(ConfigError::new("advertise", "must be HOST:PORT")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{Args, Config, Place, StoreKind};

    fn config(flags: &str) -> Result<Config, String> {
        let flags = std::iter::once("hera-master").chain(flags.split_whitespace());
        let args = Args::try_parse_from(flags).map_err(|e| e.to_string())?;
        args.check().map_err(|e| e.to_string())
    }

    fn config_store(flags: &str) -> Place {
        config(flags).unwrap().store
    }

    #[track_caller]
    fn refused(flags: &str, words: &str) {
        let error = config(flags).unwrap_err();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn the_defaults_are_good() {
        let config = config("").unwrap();
        assert_eq!(config.store, Place::Folder("hera-data".into()));
        assert!(!config.insecure);
        assert_eq!(config.listen.to_string(), "127.0.0.1:9887");
    }

    #[test]
    fn a_port_that_others_reach_needs_the_word_insecure() {
        refused("--listen 0.0.0.0:9887", "give --insecure-listen 0.0.0.0:9887");
        let open = config("--insecure-listen 0.0.0.0:9887").unwrap();
        assert!(open.insecure);
        assert!(!config("--insecure-listen 127.0.0.1:1").unwrap().insecure);
    }

    #[test]
    fn a_store_is_a_url_and_its_password_is_never_shown() {
        refused("--store mysql://x", "--store must be sqlite:DIR");
        refused("--store sqlite:", "--store names no directory");
        let config = config("--store postgres://hera:secret@db/hera").unwrap();
        assert_eq!(config.store.kind(), StoreKind::Postgres);
        assert!(!format!("{config:?}").contains("secret"));
        let folder = config_store("--data-dir here");
        assert_eq!(folder, config_store("--store sqlite:here"));
        refused("--data-dir here --store postgres://h/d", "cannot be used with '--store <URL>'");
    }

    #[test]
    fn an_advertised_address_has_a_port() {
        refused("--advertise m1", "--advertise must be HOST:PORT");
        let config = config("--advertise m1:9887").unwrap();
        assert_eq!(config.advertise.as_deref(), Some("http://m1:9887"));
    }

    #[test]
    fn timings_that_do_not_fit_each_other_are_refused_by_name() {
        refused("--leader-give-up-ms 9900", "--leader-lease-ms");
        refused("--leader-renew-ms 3000", "--leader-give-up-ms");
        refused("--store-ms 3600 --leader-renew-ms 1500", "--store-ms");
        refused("--rho-ppm 0", "--rho-ppm");
        refused("--rho-ppm 200000", "--rho-ppm");
        refused("--accept-ms 8000", "--accept-ms");
        refused("--kill-ms 400", "--kill-ms");
        refused("--rpc-ms 6000 --accept-ms 20000", "--rpc-ms");
        refused("--heartbeat-min-ms 400", "--heartbeat-min-ms");
        refused("--heartbeat-min-ms 20000", "--heartbeat-max-ms");
        refused("--poll-ms 100", "--poll-ms");
        let quick = "--leader-lease-ms 1500 --leader-renew-ms 300 --leader-give-up-ms 1000 --store-ms 200 \
                     --rpc-ms 250 --term-ms 200 --kill-ms 500 --heartbeat-max-ms 500 --accept-ms 1000 --grace-ms 200";
        config(quick).unwrap();
    }
}
