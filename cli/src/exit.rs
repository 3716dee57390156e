//! How the program ends: the exit codes, and failures that carry one. Knows no command.

use std::fmt;
use std::io;
use std::process::ExitCode;

use tonic::{Code, Status};
use tonic_types::StatusExt as _;

/// The exit codes, which scripts rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// A run that was followed or waited for has failed.
    RunFailed,
    BadInput,
    NotFound,
    /// It conflicts with something, or would break something.
    Refused,
    NotPermitted,
    /// No leader can be reached, or it cannot answer now.
    NoLeader,
}

impl Exit {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::RunFailed => 1,
            Self::BadInput => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::NotPermitted => 5,
            Self::NoLeader => 6,
        }
    }

    /// What a gRPC code means to a script.
    pub const fn of(code: Code) -> Self {
        match code {
            Code::Ok => Self::Done,
            Code::InvalidArgument | Code::OutOfRange => Self::BadInput,
            Code::NotFound => Self::NotFound,
            // A master that does not know the request is older than this program.
            Code::FailedPrecondition
            | Code::Aborted
            | Code::AlreadyExists
            | Code::ResourceExhausted
            | Code::Unimplemented => Self::Refused,
            Code::PermissionDenied | Code::Unauthenticated => Self::NotPermitted,
            Code::Unavailable
            | Code::DeadlineExceeded
            | Code::Cancelled
            | Code::Internal
            | Code::Unknown
            | Code::DataLoss => Self::NoLeader,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command did not do what it was asked: an exit code, and a line for each thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) struct Failure {
    pub exit: Exit,
    /// Each fits after `error: `. None: there is nothing to tell (a reader has gone).
    pub lines: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.join("; ").fmt(f)
    }
}

impl Failure {
    /// One line.
    pub(crate) fn new(exit: Exit, line: impl Into<String>) -> Self {
        Self { exit, lines: vec![line.into()] }
    }

    /// What was typed or written is wrong.
    pub(crate) fn bad_input(line: impl Into<String>) -> Self {
        Self::new(Exit::BadInput, line)
    }

    /// This machine cannot do it: a full disk, a folder that may not be written.
    pub(crate) fn machine(what: impl fmt::Display, error: &io::Error) -> Self {
        Self::new(Exit::Refused, format!("{what}: {error}"))
    }

    /// An answer that this program does not understand.
    pub(crate) fn answer(problem: impl fmt::Display) -> Self {
        Self::new(
            Exit::NoLeader,
            format!(
                "the master's answer cannot be read: {problem}; is it newer than this program?"
            ),
        )
    }

    /// Who read the output has gone (`hera get … | head`): end, and say nothing.
    pub(crate) const fn reader_gone() -> Self {
        Self { exit: Exit::Done, lines: Vec::new() }
    }

    /// What the master refused: a line for each field that it names, else its message.
    pub(crate) fn refused(status: &Status) -> Self {
        let violations = status.get_details_bad_request().map(|bad| bad.field_violations);
        let line = |field: &str, text: &str| {
            if field.is_empty() { text.to_owned() } else { format!("{field}: {text}") }
        };
        let mut lines: Vec<_> = violations
            .into_iter()
            .flatten()
            .map(|violation| line(&violation.field, &violation.description))
            .collect();
        if lines.is_empty() {
            lines.push(if status.message().is_empty() {
                format!("the master answered {:?} and did not say why", status.code())
            } else {
                status.message().to_owned()
            });
        }
        Self { exit: Exit::of(status.code()), lines }
    }
}

/// Of a failed write to the standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::reader_gone()
        } else {
            Self::machine("the output could not be written", &error)
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use tonic::{Code, Status};
    use tonic_types::{ErrorDetails, StatusExt as _};

    use super::{Exit, Failure};

    #[test]
    fn every_grpc_code_has_an_exit_code() {
        let table: String = (0..=16)
            .map(Code::from_i32)
            .map(|code| format!("{code:?} {}\n", Exit::of(code).code()))
            .collect();
        expect![[r#"
            Ok 0
            Cancelled 6
            Unknown 6
            InvalidArgument 2
            DeadlineExceeded 6
            NotFound 3
            AlreadyExists 4
            PermissionDenied 5
            ResourceExhausted 4
            FailedPrecondition 4
            Aborted 4
            OutOfRange 2
            Unimplemented 4
            Internal 6
            Unavailable 6
            DataLoss 6
            Unauthenticated 5
        "#]]
        .assert_eq(&table);
        assert_eq!(Exit::RunFailed.code(), 1);
    }

    #[test]
    fn a_refusal_tells_every_field() {
        let mut details = ErrorDetails::new();
        details
            .add_bad_request_violation("a.yaml:3:5", "unknown key `retrys`")
            .add_bad_request_violation("b.yaml:1:1", "the group is missing");
        let status = Status::with_error_details(Code::InvalidArgument, "2 errors", details);
        let failure = Failure::refused(&status);
        assert_eq!(failure.exit, Exit::BadInput);
        assert_eq!(
            failure.lines,
            ["a.yaml:3:5: unknown key `retrys`", "b.yaml:1:1: the group is missing"]
        );
        let plain = Failure::refused(&Status::not_found("job `a` does not exist"));
        assert_eq!((plain.exit, plain.lines.len()), (Exit::NotFound, 1));
        assert_eq!(plain.to_string(), "job `a` does not exist");
    }

    #[test]
    fn a_reader_that_has_gone_is_no_failure() {
        let gone = Failure::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!(gone, Failure::reader_gone());
        assert_eq!(gone.exit.code(), 0);
    }
}
