//! Following a run: its log as it grows, through retries and through a change of the leader, to its end.

use hera_proto::v1;
use tonic::{Code, Status};

use super::describe::{Outputs, whole_run};
use super::wire;
use crate::client::{Client, Repeat};
use crate::exit::{Exit, Failure};
use crate::output::keys::shown;
use crate::output::span::span;
use crate::output::{Out, WholeRun};

/// How often a stream that broke is taken up again without a single byte between.
const BREAKS_MAX: u32 = 10;

/// How far the log has been printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Printed {
    /// 0: nothing yet.
    attempt: u32,
    /// Bytes of that attempt's log.
    offset: u64,
}

impl Printed {
    /// What of a piece is new: it may overlap what a broken stream has brought already.
    fn fresh<'b>(&mut self, attempt: u32, offset: u64, bytes: &'b [u8]) -> &'b [u8] {
        if attempt != self.attempt {
            *self = Self { attempt, offset };
        }
        let known = usize::try_from(self.offset.saturating_sub(offset)).unwrap_or(usize::MAX);
        let fresh = bytes.get(known..).unwrap_or_default();
        self.offset = self.offset.max(offset.saturating_add(wide(bytes.len())));
        fresh
    }
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Prints the log of `run` (`r42`) until the run has ended, or the one attempt that was asked for. Gives
/// the exit code for it: a run that did not succeed is a failure.
pub(super) async fn follow(
    client: &Client,
    out: &mut Out,
    run: &str,
    attempt: u32,
) -> Result<Exit, Failure> {
    let mut printed = Printed::default();
    let mut breaks = 0;
    loop {
        let before = printed;
        let broke = stream(client, out, run, attempt, &mut printed).await?;
        let whole = whole_run(client, run.to_owned(), Outputs::LeftOut).await?;
        if ended(&whole) {
            tell_end(out, &whole);
            return Ok(if whole.run.state == "succeeded" { Exit::Done } else { Exit::RunFailed });
        }
        if broke.is_none() && attempt != 0 {
            return Ok(Exit::Done);
        }
        breaks = if printed == before { breaks + 1 } else { 0 };
        if breaks > BREAKS_MAX {
            let why = broke.unwrap_or_else(|| "it ended before the run did".to_owned());
            return Err(Failure::new(Exit::NoLeader, format!("the log of {run} broke off: {why}")));
        }
    }
}

/// One stream to its end. Some: why it broke.
async fn stream(
    client: &Client,
    out: &mut Out,
    run: &str,
    attempt: u32,
    printed: &mut Printed,
) -> Result<Option<String>, Failure> {
    let request = v1::FollowLogRequest {
        run: run.to_owned(),
        attempt,
        offset: if attempt == 0 { 0 } else { printed.offset },
    };
    let mut pieces = client
        .ask(Repeat::Safe, request, async |channel, request| {
            wire::runs(channel).follow_log(request).await
        })
        .await?;
    loop {
        match pieces.message().await {
            Ok(Some(piece)) => {
                let v1::FollowLogResponse { bytes, offset, attempt, run_state: _ } = piece;
                if attempt > 1 && attempt != printed.attempt {
                    out.note(&format!("{run}: attempt {attempt}"));
                }
                let fresh = printed.fresh(attempt, offset, &bytes);
                if !fresh.is_empty() {
                    out.raw(fresh)?;
                }
            }
            Ok(None) => return Ok(None),
            Err(status) if passes(&status) => return Ok(Some(status.message().to_owned())),
            Err(status) => return Err(Failure::refused(&status)),
        }
    }
}

/// Whether a stream that ended so is worth taking up again.
fn passes(status: &Status) -> bool {
    std::error::Error::source(status).is_some()
        || status.metadata().get(hera_proto::LEADER_KEY).is_some()
        || matches!(status.code(), Code::Unavailable | Code::Cancelled | Code::Unknown)
}

fn ended(whole: &WholeRun) -> bool {
    matches!(whole.run.state.as_str(), "succeeded" | "failed" | "cancelled")
}

/// `r42 failed(exit): exit code 3, 2 attempts, 1.2s`.
fn tell_end(out: &mut Out, whole: &WholeRun) {
    let run = &whole.run;
    let mut parts = Vec::new();
    let last = whole.attempts.iter().max_by_key(|attempt| attempt.number);
    if let Some(last) = last.filter(|_last| run.state == "failed") {
        parts.extend(last.exit_code.map(|code| format!("exit code {code}")));
        parts.extend(last.signal.map(|signal| format!("signal {signal}")));
        parts.extend(last.detail.clone());
    }
    if run.attempts > 1 {
        parts.push(format!("{} attempts", run.attempts));
    }
    if let (Some(start), Some(end)) = (run.started_at, run.ended_at) {
        parts.push(span(end.0.ms().saturating_sub(start.0.ms())));
    }
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    out.note(&format!("{} {}{parts}", run.id, shown(&run.state, run.reason.as_deref())));
}

#[cfg(test)]
mod tests {
    use hera_common::time::Wall;
    use hera_proto::v1;
    use tonic::Status;

    use super::{Printed, follow};
    use crate::client::Client;
    use crate::command::stand_in::Answers;
    use crate::exit::Exit;
    use crate::output::{Format, Out, Sink};

    fn piece(attempt: u32, offset: u64, bytes: &[u8]) -> Result<v1::FollowLogResponse, Status> {
        let bytes = bytes.to_vec().into();
        Ok(v1::FollowLogResponse { bytes, offset, attempt, run_state: None })
    }

    #[tokio::test]
    async fn a_log_goes_on_where_the_stream_broke_and_its_end_is_the_exit_code() {
        for (word, exit) in [("succeeded", Exit::Done), ("failed", Exit::RunFailed)] {
            let state = Some(v1::State { word: word.to_owned(), reason: String::new() });
            let run = Some(v1::Run { id: 42, state, ..v1::Run::default() });
            let answers = Answers {
                run: v1::GetRunResponse { run, attempts: Vec::new() },
                log: |stream| match stream {
                    0 => vec![
                        piece(1, 0, b"one\n"),
                        piece(2, 0, b"tw"),
                        Err(Status::unavailable("this master is stopping")),
                    ],
                    _ => vec![piece(2, 0, b"two\n"), piece(2, 4, b"\xff\n")],
                },
                ..Answers::default()
            };
            let (at, _master) = answers.serve().await;
            let client = Client::new(&at.to_string()).unwrap();
            let sink = Sink::default();
            let mut out = Out::captured(Format::Table, Wall::from_ms(0), Box::new(sink.clone()));
            assert_eq!(follow(&client, &mut out, "r42", 0).await.unwrap(), exit);
            assert_eq!(sink.bytes(), b"one\ntwo\n\xff\n");
        }
    }

    #[test]
    fn a_piece_that_comes_twice_is_printed_once() {
        let mut printed = Printed::default();
        assert_eq!(printed.fresh(1, 0, b"abc"), b"abc");
        assert_eq!(printed.fresh(1, 3, b"de"), b"de");
        // The stream broke, and starts again from the front.
        assert_eq!(printed.fresh(1, 0, b"abcdef"), b"f");
        assert_eq!(printed.fresh(1, 2, b"cd"), b"");
        assert_eq!(printed, Printed { attempt: 1, offset: 6 });
        // The next attempt has a log of its own.
        assert_eq!(printed.fresh(2, 0, b"x"), b"x");
        assert_eq!(printed, Printed { attempt: 2, offset: 1 });
    }
}
