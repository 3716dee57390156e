//! Which files an apply sends: the job files below a path, and what they name. Judges no content: the
//! master tells what is wrong, with its place.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hera_common::doc::{Wanted, read_file, wanted_files};
use hera_common::limits::FILE_BYTES_MAX;
use hera_proto::{MESSAGE_BYTES_MAX, v1};

use crate::exit::{Exit, Failure};

/// Folders in folders: more is a link that leads back.
const DEPTH_MAX: usize = 32;

/// Bytes of one job file: ten times the largest that anybody would read.
const JOB_FILE_BYTES_MAX: u64 = 16 << 20;

/// What is left of a message for names and lengths.
const MESSAGE_ROOM: usize = 1 << 20;

/// The path that means the standard input, and the name under which the master then tells places.
const STDIN: (&str, &str) = ("-", "<stdin>");

/// All that an apply sends of the disk.
#[derive(Debug, Default, PartialEq)]
pub(in crate::command) struct Collected {
    pub files: Vec<v1::JobFileText>,
    pub attachments: Vec<v1::Attachment>,
    /// The absolute path: the same each time on this machine.
    pub source: String,
}

/// Reads the job file at `path`, or those in the folder and below, sorted, and the files that they name.
/// `-` is the standard input, and the files that it names are sought from the working directory.
///
/// # Errors
/// Nothing there, nothing to apply, or a file that cannot be read. A named file that does not exist is
/// left out, so that the master names the place that asks for it.
pub(super) fn collect(path: &Path) -> Result<Collected, Failure> {
    let collected =
        if path == Path::new(STDIN.0) { from_input(io::stdin().lock())? } else { from_disk(path)? };
    let texts = collected.files.iter().map(|file| file.text.len());
    let contents = collected.attachments.iter().map(|attachment| attachment.content.len());
    let bytes = texts.chain(contents).fold(0_usize, usize::saturating_add);
    if bytes > MESSAGE_BYTES_MAX - MESSAGE_ROOM {
        return Err(Failure::bad_input(format!(
            "{}: {bytes} bytes with all files that the jobs name, more than one apply takes: apply its \
             folders one by one",
            path.display()
        )));
    }
    Ok(collected)
}

/// One job file from the standard input.
fn from_input(input: impl io::Read) -> Result<Collected, Failure> {
    let name = STDIN.1;
    let bytes =
        bounded(input, JOB_FILE_BYTES_MAX).map_err(|error| unreadable(Path::new(name), &error))?;
    let mut collected = Collected { source: name.to_owned(), ..Collected::default() };
    job_file(name.to_owned(), bytes, Path::new(""), &mut collected)?;
    Ok(collected)
}

fn from_disk(path: &Path) -> Result<Collected, Failure> {
    let whole = fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
    let mut names = Vec::new();
    if whole.is_dir() {
        job_files(path, 0, &mut names)?;
        names.sort();
        if names.is_empty() {
            return Err(Failure::bad_input(format!(
                "{}: the folder holds no *.yaml and no *.yml",
                path.display()
            )));
        }
    } else {
        names.push(path.to_owned());
    }
    let mut collected =
        Collected { source: whole.to_string_lossy().into_owned(), ..Collected::default() };
    for path in &names {
        let bytes = read(path, JOB_FILE_BYTES_MAX)?.unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new(""));
        job_file(text_of(path)?, bytes, folder, &mut collected)?;
    }
    Ok(collected)
}

/// Adds the job files of a folder and of those below it. What begins with a dot is not looked at.
fn job_files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for (path, is_folder) in entries(folder, depth)? {
        if is_folder {
            job_files(&path, depth + 1, found)?;
        } else if path.extension().is_some_and(|end| end == "yaml" || end == "yml") {
            found.push(path);
        }
    }
    Ok(())
}

/// What lies in a folder, links followed: each path, and whether it is a folder.
fn entries(folder: &Path, depth: usize) -> Result<Vec<(PathBuf, bool)>, Failure> {
    if depth > DEPTH_MAX {
        return Err(Failure::bad_input(format!(
            "{}: more than {DEPTH_MAX} folders deep; does a link lead back?",
            folder.display()
        )));
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let path = entry.map_err(|error| unreadable(folder, &error))?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if hidden {
            continue;
        }
        // A link that leads nowhere, and a file that is just taken away, are as if not there.
        if let Ok(kind) = fs::metadata(&path) {
            found.push((path, kind.is_dir()));
        }
    }
    found.sort();
    Ok(found)
}

/// Adds one job file, and what it names beside it in `folder`.
fn job_file(
    name: String,
    bytes: Vec<u8>,
    folder: &Path,
    collected: &mut Collected,
) -> Result<(), Failure> {
    if u64::try_from(bytes.len()).is_ok_and(|length| length > JOB_FILE_BYTES_MAX) {
        let problem = format!("{name}: more than {JOB_FILE_BYTES_MAX} bytes; cut it into files");
        return Err(Failure::bad_input(problem));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_other| Failure::bad_input(format!("{name}: is not UTF-8 text")))?;
    // What cannot be read here cannot be read there: the master tells all errors of all files at once.
    let wanted = read_file(&name, &text).map(|file| wanted_files(&file)).unwrap_or_default();
    let mut beside = BTreeSet::new();
    for wanted in wanted {
        match wanted {
            Wanted::File(file) => {
                beside.insert(PathBuf::from(file));
            }
            Wanted::Folder(folder) => within(Path::new(&folder), 0, &mut beside)?,
        }
    }
    for file in beside {
        let Some(content) = read(&file, limit())? else { continue };
        let mode = fs::metadata(&file).map_err(|error| unreadable(&file, &error))?.permissions();
        collected.attachments.push(v1::Attachment {
            file: name.clone(),
            path: text_of(file.strip_prefix(folder).unwrap_or(&file))?,
            content: content.into(),
            executable: mode.mode() & 0o111 != 0,
        });
    }
    collected.files.push(v1::JobFileText { name, text });
    Ok(())
}

/// Adds all files in a folder and below it; nothing where there is no folder.
fn within(folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) -> Result<(), Failure> {
    if !folder.is_dir() {
        return Ok(());
    }
    for (path, is_folder) in entries(folder, depth)? {
        if is_folder {
            within(&path, depth + 1, found)?;
        } else {
            found.insert(path);
        }
    }
    Ok(())
}

fn limit() -> u64 {
    u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX)
}

/// A regular file, at most a byte more than `max`: enough to see that it is too long. None where there is none.
fn read(path: &Path, max: u64) -> Result<Option<Vec<u8>>, Failure> {
    match fs::metadata(path) {
        Ok(kind) if kind.is_file() => {}
        // A pipe or a device would not end.
        Ok(_) => {
            return Err(Failure::bad_input(format!("{}: is no regular file", path.display())));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    }
    let read = File::open(path).and_then(|file| bounded(file, max));
    read.map(Some).map_err(|error| unreadable(path, &error))
}

fn bounded(from: impl io::Read, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn text_of(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::bad_input(format!("{}: the name is not UTF-8 text", path.display()))
    })
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let exit = if error.kind() == io::ErrorKind::NotFound {
        Exit::NotFound
    } else if error.kind() == io::ErrorKind::PermissionDenied {
        Exit::NotPermitted
    } else {
        Exit::BadInput
    };
    Failure::new(exit, format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    use expect_test::{Expect, expect};

    use super::{JOB_FILE_BYTES_MAX, collect, from_input};
    use crate::exit::Exit;

    const JOBS: &str = "group: g\njobs:\n  - name: a\n    schedule: { cron: \"0 3 * * *\" }\n    \
                        files: [lib/, one.sh, gone.sh]\n    script: { file: run.sh }\n";

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Prints what is sent for `path`, with `folder` as `~`.
    #[track_caller]
    fn check(folder: &Path, path: &Path, expected: &Expect) {
        let collected = collect(path).unwrap();
        let mut text = String::new();
        for file in &collected.files {
            writeln!(text, "file {}", file.name).unwrap();
        }
        for one in &collected.attachments {
            let mark = if one.executable { " x" } else { "" };
            writeln!(text, "{} + {} ({}){mark}", one.file, one.path, one.content.len()).unwrap();
        }
        writeln!(text, "source {}", collected.source).unwrap();
        expected.assert_eq(&text.replace(folder.to_str().unwrap(), "~"));
    }

    #[test]
    fn a_folder_gives_its_job_files_and_what_they_name() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().canonicalize().unwrap();
        write(&folder, "jobs/b.yml", JOBS);
        write(&folder, "jobs/run.sh", "echo");
        write(&folder, "jobs/one.sh", "1");
        write(&folder, "jobs/lib/x.py", "xx");
        write(&folder, "jobs/lib/deep/y.py", "yyy");
        write(&folder, "jobs/lib/.cache", "no");
        write(&folder, "a.yaml", "group: broken [");
        write(&folder, ".git/c.yaml", "no");
        write(&folder, "out/data.csv", "no");
        fs::set_permissions(folder.join("jobs/one.sh"), Permissions::from_mode(0o755)).unwrap();
        symlink("nowhere.yaml", folder.join("z.yaml")).unwrap();
        check(
            &folder,
            &folder,
            &expect![[r#"
                file ~/a.yaml
                file ~/jobs/b.yml
                ~/jobs/b.yml + lib/deep/y.py (3)
                ~/jobs/b.yml + lib/x.py (2)
                ~/jobs/b.yml + one.sh (1) x
                ~/jobs/b.yml + run.sh (4)
                source ~
            "#]],
        );
        check(
            &folder,
            &folder.join("a.yaml"),
            &expect![[r#"
                file ~/a.yaml
                source ~/a.yaml
            "#]],
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_name() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path();
        let empty = collect(folder).unwrap_err();
        assert_eq!(empty.exit, Exit::BadInput);
        assert!(empty.to_string().ends_with("the folder holds no *.yaml and no *.yml"), "{empty}");
        assert_eq!(collect(&folder.join("x.yaml")).unwrap_err().exit, Exit::NotFound);
        fs::write(folder.join("a.yaml"), [0xff, 0xfe]).unwrap();
        assert!(collect(folder).unwrap_err().to_string().ends_with("is not UTF-8 text"));
        fs::remove_file(folder.join("a.yaml")).unwrap();
        symlink(folder, folder.join("again")).unwrap();
        let loops = collect(folder).unwrap_err();
        assert!(loops.to_string().contains("does a link lead back?"), "{loops}");
    }

    #[test]
    fn a_large_file_is_read_only_so_far_that_the_master_can_refuse_it() {
        let temp = tempfile::tempdir().unwrap();
        write(temp.path(), "b.yml", JOBS);
        let file = fs::File::create(temp.path().join("one.sh")).unwrap();
        file.set_len(5 << 30).unwrap();
        let collected = collect(temp.path()).unwrap();
        assert_eq!(collected.attachments[0].content.len(), (1 << 20) + 1);
    }

    #[test]
    fn the_standard_input_is_one_job_file() {
        let text = "group: g\njobs:\n  - { name: a, script: { file: Cargo.toml } }\n";
        let collected = from_input(text.as_bytes()).unwrap();
        assert_eq!(collected.source, "<stdin>");
        assert_eq!(collected.files[0].name, "<stdin>");
        // Sought from the working directory, which is the crate's own here.
        assert_eq!(collected.attachments[0].path, "Cargo.toml");
        assert_eq!(collected.attachments[0].file, "<stdin>");
        let refused = from_input(&[0xff][..]).unwrap_err();
        assert_eq!(refused.to_string(), "<stdin>: is not UTF-8 text");
    }

    #[test]
    fn a_job_file_that_is_too_long_is_refused_and_not_cut() {
        let refused = from_input(std::io::repeat(b'#')).unwrap_err();
        assert_eq!(refused.exit, Exit::BadInput);
        assert!(refused.to_string().contains(&format!("more than {JOB_FILE_BYTES_MAX} bytes")));
        let temp = tempfile::tempdir().unwrap();
        let file = fs::File::create(temp.path().join("a.yaml")).unwrap();
        file.set_len(5 << 30).unwrap();
        assert!(collect(temp.path()).unwrap_err().to_string().ends_with("cut it into files"));
    }
}
