//! Files that travel with a job: which are wanted, what they may be named, what they hold. Reads no
//! disk: whoever reads them hands them in.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::file::{FileDoc, FileJob, Script};
use super::job::FileRef;
use super::place::FieldError;
use crate::limits::{FILE_BYTES_MAX, FILES_BYTES_MAX, SCRIPT_BYTES_MAX};

/// Bytes of the name of an attached file, folders included.
const FILE_NAME_BYTES_MAX: usize = 1_000;
/// Bytes of one name in it: what Linux takes.
const FILE_NAME_PART_MAX: usize = 255;

/// What the reader of a job file must read beside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// One file.
    File(String),
    /// All files in a folder and in the folders below it; no `/` at its end.
    Folder(String),
}

/// What the jobs of a file want, each once; names are those of [`beside`].
pub fn wanted_files(file: &FileDoc) -> Vec<Wanted> {
    let wanted = file.jobs.iter().flat_map(|job| {
        let script = match &job.script {
            Script::File(name) => Some(Wanted::File(beside(&file.name, name))),
            Script::Nothing | Script::Text(_) => None,
        };
        let files = job.files.iter().map(|name| match name.strip_suffix('/') {
            Some(folder) => Wanted::Folder(beside(&file.name, folder)),
            None => Wanted::File(beside(&file.name, name)),
        });
        script.into_iter().chain(files)
    });
    let mut wanted: Vec<Wanted> = wanted.collect();
    wanted.sort();
    wanted.dedup();
    wanted
}

/// The name of what lies beside a job file: `jobs/a.yaml` and `lib/x.sh` give `jobs/lib/x.sh`.
pub fn beside(file: &str, name: &str) -> String {
    match file.rsplit_once('/') {
        Some((folder, _file)) => format!("{folder}/{name}"),
        None => name.to_owned(),
    }
}

/// The contents of the files that were read, by the names of [`beside`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents(BTreeMap<String, Content>);

/// One file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    pub bytes: Vec<u8>,
    /// SHA-256, 64 hexadecimal digits.
    pub digest: String,
    pub executable: bool,
}

impl Contents {
    /// Adds what was read; a second time replaces the first.
    pub fn add(&mut self, name: impl Into<String>, bytes: Vec<u8>, executable: bool) {
        let digest = digest(&bytes);
        self.0.insert(name.into(), Content { bytes, digest, executable });
    }

    /// What was read under that name.
    pub fn get(&self, name: &str) -> Option<&Content> {
        self.0.get(name)
    }

    /// All, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Content)> {
        self.0.iter().map(|(name, content)| (name.as_str(), content))
    }

    /// Those in a folder, with their names below it.
    fn within(&self, folder: &str) -> Vec<(&str, &Content)> {
        let start = format!("{folder}/");
        let from_start = self.0.range(start.clone()..);
        let inside = from_start.map_while(|(name, c)| Some((name.strip_prefix(&start)?, c)));
        inside.collect()
    }
}

/// SHA-256 in 64 hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes all");
        text
    })
}

/// A job's script and files, with what was read.
pub(super) struct Attached {
    pub script: String,
    pub files: Vec<FileRef>,
}

/// Puts what was read to the job.
pub(super) fn attach(
    file: &str,
    job: &FileJob,
    contents: &Contents,
) -> Result<Attached, Vec<FieldError>> {
    let mut problems = Vec::new();
    let script = match &job.script {
        Script::Nothing => String::new(),
        Script::Text(text) => text.clone(),
        Script::File(name) => script_of(&beside(file, name), contents).unwrap_or_else(|problem| {
            problems.push(FieldError::new("script.file", format!("`{name}` {problem}")));
            String::new()
        }),
    };
    let mut files = BTreeMap::new();
    let mut bytes = 0_usize;
    for (i, name) in job.files.iter().enumerate() {
        let field = format!("files[{i}]");
        let found = listed(file, name, contents);
        if found.is_empty() {
            let problem = if name.ends_with('/') { "holds no file" } else { "was not found" };
            problems.push(FieldError::new(&field, format!("`{name}` {problem}")));
        }
        for (name, content) in found {
            if content.bytes.len() > FILE_BYTES_MAX {
                let problem = format!("`{name}` has more than {FILE_BYTES_MAX} bytes");
                problems.push(FieldError::new(&field, problem));
            } else if let Err(problem) = check_name(&name) {
                problems.push(FieldError::new(&field, problem));
            }
            let file = FileRef {
                digest: content.digest.clone(),
                executable: content.executable,
                name: name.clone(),
            };
            if files.insert(name, file).is_none() {
                bytes = bytes.saturating_add(content.bytes.len());
            }
        }
    }
    if bytes > FILES_BYTES_MAX {
        let problem = format!("have {bytes} bytes, more than {FILES_BYTES_MAX}");
        problems.push(FieldError::new("files", problem));
    }
    let files = files.into_values().collect();
    if problems.is_empty() { Ok(Attached { script, files }) } else { Err(problems) }
}

/// A file, or the files of a folder, with their names in the attempt's directory.
fn listed<'a>(file: &str, name: &str, contents: &'a Contents) -> Vec<(String, &'a Content)> {
    let Some(folder) = name.strip_suffix('/') else {
        return contents
            .get(&beside(file, name))
            .map(|c| (name.to_owned(), c))
            .into_iter()
            .collect();
    };
    let within = beside(file, folder);
    let inside = contents.within(&within).into_iter();
    inside.map(|(below, content)| (format!("{folder}/{below}"), content)).collect()
}

fn script_of(name: &str, contents: &Contents) -> Result<String, String> {
    let content = contents.get(name).ok_or_else(|| "was not found".to_owned())?;
    check_script_bytes(content.bytes.len())?;
    let text = String::from_utf8(content.bytes.clone());
    let text = text.map_err(|_other| "is not UTF-8 text".to_owned())?;
    match text.as_str() {
        blank if blank.trim().is_empty() => Err("is empty".to_owned()),
        holds if holds.contains('\0') => Err("holds a NUL character".to_owned()),
        _text => Ok(text),
    }
}

/// A script's length, before and after rendering.
pub(super) fn check_script_bytes(bytes: usize) -> Result<(), String> {
    if bytes > SCRIPT_BYTES_MAX {
        return Err(format!("has {bytes} bytes, more than {SCRIPT_BYTES_MAX}"));
    }
    Ok(())
}

/// Checks a name as written in `files` or `script: { file: … }`.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    if name.starts_with('/') {
        return Err(format!("`{name}` is absolute: write it relative to the job file"));
    }
    if name.len() > FILE_NAME_BYTES_MAX {
        return Err(format!("the name has more than {FILE_NAME_BYTES_MAX} bytes"));
    }
    for part in name.strip_suffix('/').unwrap_or(name).split('/') {
        match part {
            "" => return Err(format!("`{name}` has an empty name in it")),
            "." | ".." => {
                return Err(format!("`{name}` holds `{part}`: it must lie beside the job file"));
            }
            long if long.len() > FILE_NAME_PART_MAX => {
                return Err(format!("a name has more than {FILE_NAME_PART_MAX} bytes"));
            }
            odd if odd.chars().any(|c| c.is_control() || c == '\\') => {
                return Err(format!("{name:?} holds a control character or a `\\`"));
            }
            _name => {}
        }
    }
    Ok(())
}
