//! What can be typed after `hera`, but for what one command alone takes. Asks nobody.

use clap::{Args, Parser};
use hera_common::limits::{ACTOR_BYTES_MAX, WHY_BYTES_MAX};
use hera_common::shown::misleading;

use crate::command::Command;
use crate::output::Format;

/// Runs scripts in order, every night; tells why something is late; lets you fix and resume.
#[derive(Debug, Parser)]
#[command(name = "hera", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Addresses of masters, HOST:PORT, separated by commas [default: a running `hera dev`, else
    /// 127.0.0.1:9887]
    #[arg(long, global = true, env = "HERA_SERVER", value_name = "HOST:PORT,…")]
    pub server: Option<String>,
    /// How to print
    #[arg(short, long, global = true, value_enum, default_value_t)]
    pub output: Format,
    /// Who asks [default: USER@HOST]
    #[arg(long, global = true, env = "HERA_ACTOR", value_parser = actor)]
    pub actor: Option<String>,
}

/// What commands take that change something.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Because {
    /// Why, for those who look at it later
    #[arg(short = 'm', long, value_name = "WHY", value_parser = why, default_value = "",
          hide_default_value = true)]
    pub why: String,
}

/// A day of the calendar, `yyyy-MM-dd`.
pub(crate) fn day(text: &str) -> Result<String, String> {
    let day: jiff::civil::Date =
        text.parse().map_err(|_not_a_date| "write a day as yyyy-MM-dd".to_owned())?;
    Ok(day.to_string())
}

/// `key=value`; the value may hold anything.
pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE".to_owned()),
    }
}

fn actor(text: &str) -> Result<String, String> {
    if let Some(odd) = misleading(text) {
        return Err(format!("holds the character {odd:?}, which is not seen"));
    }
    match text.len() {
        0 => Err("an actor has a name".to_owned()),
        1..=ACTOR_BYTES_MAX => Ok(text.to_owned()),
        n => Err(format!("{n} bytes; at most {ACTOR_BYTES_MAX} are kept")),
    }
}

fn why(text: &str) -> Result<String, String> {
    match text.len() {
        0..=WHY_BYTES_MAX => Ok(text.to_owned()),
        n => Err(format!("{n} bytes; at most {WHY_BYTES_MAX} are kept")),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};
    use expect_test::expect;

    use super::Cli;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_can_be_typed_and_what_is_refused() {
        let lines = [
            "apply -f jobs --prune --dry-run --since 2026-11-01 --overwrite -m why",
            "apply jobs",
            "apply -f jobs --since soon",
            "cancel",
            "cancel a b@latest -m why",
            "audit --job a/b --by ann --limit 5",
            "cluster -o yaml",
            "completions bash",
            "describe action a@20261130",
            "delete",
            "delete a b -m unused",
            "describe group a/b",
            "describe worker w1",
            "dev",
            "dev jobs --data-dir d --until-idle",
            "dev a b",
            "get actions --job a/* --group g/** --state failed(exit),active(queued) --reason exit --day 2026-11-30 --data 2026-11-29 --owner t --trigger schedule,manual --limit 5",
            "get actions --day 30.11.2026",
            "get actions --trigger cron",
            "get attempts r42",
            "get groups --group g/** -o name",
            "get jobs",
            "get jobs --state open",
            "get jobs --state failed",
            "get queue --limit 0",
            "get runs --reason exit",
            "get workers -o xml",
            "history a/b --limit 3",
            "logs a -f --attempt 2",
            "logs a --attempt 0",
            "recover a b --follow --why again",
            "render a",
            "render a --text t",
            "render --text t",
            "render --text t --at 2026-11-30 --zone Europe/Berlin",
            "run a --set k=v --set x=a=b --follow",
            "run a --set k",
            "run a b",
            "slots",
            "slots a --cron x",
            "slots a --zone UTC",
            "slots a -n 3 --from 2027-03-27",
            "slots --cron * --zone UTC -n 2000",
            "why a --server m1:9887,m2:9887 --actor ann",
            "why a --actor=",
        ];
        let told: String = lines
            .iter()
            .map(|line| {
                let typed = std::iter::once("hera").chain(line.split(' '));
                let result = match Cli::try_parse_from(typed) {
                    Ok(_) => "ok".to_owned(),
                    Err(error) => {
                        let text = error.to_string();
                        let first = text.split("\n\n").next().unwrap_or_default();
                        let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
                        format!("{} {first}", error.exit_code())
                    }
                };
                format!("{line}\n    {result}\n")
            })
            .collect();
        expect![[r#"
            apply -f jobs --prune --dry-run --since 2026-11-01 --overwrite -m why
                ok
            apply jobs
                2 error: unexpected argument 'jobs' found
            apply -f jobs --since soon
                2 error: invalid value 'soon' for '--since <T>': write an instant as 2026-11-30T02:00:00Z, a local time as 2026-11-30T02:00, or a day as 2026-11-30
            cancel
                2 error: the following required arguments were not provided: <ACTION>...
            cancel a b@latest -m why
                ok
            audit --job a/b --by ann --limit 5
                ok
            cluster -o yaml
                ok
            completions bash
                ok
            describe action a@20261130
                ok
            delete
                2 error: the following required arguments were not provided: <JOB>...
            delete a b -m unused
                ok
            describe group a/b
                ok
            describe worker w1
                2 error: unrecognized subcommand 'worker'
            dev
                ok
            dev jobs --data-dir d --until-idle
                ok
            dev a b
                2 error: unexpected argument 'b' found
            get actions --job a/* --group g/** --state failed(exit),active(queued) --reason exit --day 2026-11-30 --data 2026-11-29 --owner t --trigger schedule,manual --limit 5
                ok
            get actions --day 30.11.2026
                2 error: invalid value '30.11.2026' for '--day <DAY>': write a day as yyyy-MM-dd
            get actions --trigger cron
                2 error: invalid value 'cron' for '--trigger <TRIGGER,…>': one of schedule, event, recover, super_recover, rerun, manual, debug
            get attempts r42
                ok
            get groups --group g/** -o name
                ok
            get jobs
                ok
            get jobs --state open
                ok
            get jobs --state failed
                2 error: invalid value 'failed' for '--state <STATE>' [possible values: open, closed, parked]
            get queue --limit 0
                2 error: invalid value '0' for '--limit <N>': 0 is not in 1..=4294967295
            get runs --reason exit
                ok
            get workers -o xml
                2 error: invalid value 'xml' for '--output <OUTPUT>' [possible values: table, json, yaml, name]
            history a/b --limit 3
                ok
            logs a -f --attempt 2
                ok
            logs a --attempt 0
                2 error: invalid value '0' for '--attempt <N>': 0 is not in 1..=4294967295
            recover a b --follow --why again
                ok
            render a
                ok
            render a --text t
                2 error: the argument '[ACTION]' cannot be used with '--text <T>'
            render --text t
                2 error: the following required arguments were not provided: --at <INSTANT>
            render --text t --at 2026-11-30 --zone Europe/Berlin
                ok
            run a --set k=v --set x=a=b --follow
                ok
            run a --set k
                2 error: invalid value 'k' for '--set <KEY=VALUE>': write KEY=VALUE
            run a b
                2 error: unexpected argument 'b' found
            slots
                2 error: the following required arguments were not provided: <JOB>
            slots a --cron x
                2 error: the argument '[JOB]' cannot be used with '--cron <EXPR>'
            slots a --zone UTC
                2 error: the argument '[JOB]' cannot be used with '--zone <ZONE>'
            slots a -n 3 --from 2027-03-27
                ok
            slots --cron * --zone UTC -n 2000
                2 error: invalid value '2000' for '-n <N>': 2000 is not in 1..=1000
            why a --server m1:9887,m2:9887 --actor ann
                ok
            why a --actor=
                2 error: invalid value '' for '--actor <ACTOR>': an actor has a name
        "#]].assert_eq(&told);
    }
}
