//! The few messages of PostgreSQL's protocol that the kit needs: open, ask, read the rows as text. For a
//! local socket that trusts its users, and nothing more.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// Version 3.0 of the protocol, as the start message spells it.
const PROTOCOL: i32 = 196_608;

/// No statement of the kit takes this long; a server that hangs must not hang the test run.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// A row, each column as the server writes it, nothing for NULL.
pub(super) type Row = Vec<Option<String>>;

/// An open session. Dropping it ends the session.
#[derive(Debug)]
pub(super) struct Connection {
    socket: UnixStream,
}

/// Nobody listens: there is no server, as against one that answers with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoServer(pub(super) PathBuf);

impl std::fmt::Display for NoServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no PostgreSQL listens in {}", self.0.display())
    }
}

impl std::error::Error for NoServer {}

impl Connection {
    /// Opens a session as the superuser; `purpose` is shown in `pg_stat_activity`.
    pub(super) fn open(socket_dir: &Path, database: &str, purpose: &str) -> Result<Self> {
        let socket = UnixStream::connect(socket_dir.join(".s.PGSQL.5432"))
            .map_err(|_nobody| NoServer(socket_dir.to_path_buf()))?;
        socket.set_read_timeout(Some(ANSWER_MAX))?;
        let mut start = PROTOCOL.to_be_bytes().to_vec();
        for text in ["user", "postgres", "database", database, "application_name", purpose] {
            start.extend_from_slice(text.as_bytes());
            start.push(0);
        }
        start.push(0);
        let mut connection = Self { socket };
        connection.send(&start, None)?;
        connection.answer()?;
        Ok(connection)
    }

    /// Runs one statement and gives its rows.
    pub(super) fn run(&mut self, statement: &str) -> Result<Vec<Row>> {
        self.ask(statement)?;
        self.answer().with_context(|| format!("PostgreSQL refused: {statement}"))
    }

    /// Hands in a statement that goes on in the server after this session's client has gone.
    pub(super) fn leave_running(mut self, statement: &str) -> Result<()> {
        self.ask(statement)
    }

    fn ask(&mut self, statement: &str) -> Result<()> {
        let mut body = statement.as_bytes().to_vec();
        body.push(0);
        self.send(&body, Some(b'Q'))
    }

    fn send(&mut self, body: &[u8], kind: Option<u8>) -> Result<()> {
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend_from_slice(&i32::try_from(body.len() + 4)?.to_be_bytes());
        message.extend_from_slice(body);
        self.socket.write_all(&message).context("PostgreSQL closed the session")
    }

    /// Reads until the server is ready for the next statement.
    fn answer(&mut self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        let mut refusal = None;
        loop {
            let (kind, body) = self.message().map_err(|error| match refusal.take() {
                // A refused start ends the session after the reason.
                Some(reason) => anyhow::Error::msg(reason),
                None => error,
            })?;
            match kind {
                b'Z' => break,
                b'D' => rows.push(row(&body).context("a row that ends too early")?),
                b'E' => refusal = Some(reason(&body)),
                b'R' if body != [0, 0, 0, 0] => {
                    bail!("PostgreSQL asks for a password: the kit is for local sockets with trust")
                }
                _ => {}
            }
        }
        match refusal {
            Some(reason) => bail!(reason),
            None => Ok(rows),
        }
    }

    fn message(&mut self) -> Result<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.socket.read_exact(&mut head).context("PostgreSQL closed the session")?;
        let [kind, length @ ..] = head;
        let length = usize::try_from(i32::from_be_bytes(length))?;
        let mut body = vec![0; length.saturating_sub(4)];
        self.socket.read_exact(&mut body).context("PostgreSQL closed the session")?;
        Ok((kind, body))
    }
}

/// The fields of an error message that a person needs: `CODE: text`.
fn reason(body: &[u8]) -> String {
    let field = |wanted: u8| {
        body.split(|byte| *byte == 0)
            .find_map(|field| field.strip_prefix(&[wanted]))
            .map(|text| String::from_utf8_lossy(text).into_owned())
            .unwrap_or_default()
    };
    format!("{}: {}", field(b'C'), field(b'M'))
}

fn row(body: &[u8]) -> Option<Row> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let mut row = Vec::new();
    for _ in 0..i16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = i32::from_be_bytes(*length);
        rest = after;
        // -1 stands for NULL.
        row.push(match usize::try_from(length) {
            Ok(length) => {
                let (value, after) = rest.split_at_checked(length)?;
                rest = after;
                Some(String::from_utf8_lossy(value).into_owned())
            }
            Err(_negative) => None,
        });
    }
    Some(row)
}
