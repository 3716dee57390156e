//! The text files of the tree. Knows no rule.

use std::path::Path;

use anyhow::{Context, Result};

/// Folders that hold no text of ours.
const LEFT_OUT: &[&str] = &[".git", "target", "node_modules", ".hera", "__pycache__"];

/// What is read; other files are no text, or not ours to form.
const ENDINGS: &[&str] =
    &["rs", "toml", "md", "yml", "yaml", "sh", "sql", "proto", "py", "json", "html", "css", "js"];

/// Files without an ending that are text.
const BARE: &[&str] = &["Dockerfile", "run"];

/// One file, its path relative to the root, with `/`.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The crate's folder: the first part of the path.
    pub(super) fn folder(&self) -> &str {
        self.path.split_once('/').map_or("", |(folder, _)| folder)
    }

    /// The file's name without its ending.
    pub(super) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.split_once('.').map_or(name, |(stem, _)| stem)
    }

    /// Whether it lies at `place` or below: `cli/src/command` takes `cli/src/command.rs` and its folder.
    pub(super) fn lies_in(&self, place: &str) -> bool {
        self.path
            .strip_prefix(place)
            .is_some_and(|rest| rest.starts_with(['/', '.']) || rest.is_empty())
    }

    /// Lines that are not only a comment, with their numbers from 1.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Lines with their numbers from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().zip(1..).map(|(line, number)| (number, line))
    }
}

/// Reads all text files below `root`, in the order of their paths.
pub(super) fn read(root: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    read_folder(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn read_folder(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<()> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("could not read the folder {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && !LEFT_OUT.contains(&name.as_str()) {
            read_folder(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() && is_text(&name) {
            let text = std::fs::read_to_string(entry.path())
                .with_context(|| format!("could not read {path} as text"))?;
            files.push(File { path, text });
        }
    }
    Ok(())
}

fn is_text(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((_, ending)) => ENDINGS.contains(&ending),
        None => BARE.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_or_its_folder_and_not_a_neighbour() {
        let file = |path: &str| File { path: path.to_owned(), text: String::new() };
        assert!(file("cli/src/command.rs").lies_in("cli/src/command"));
        assert!(file("cli/src/command/get.rs").lies_in("cli/src/command"));
        assert!(!file("cli/src/commands.rs").lies_in("cli/src/command"));
        assert_eq!(file("store/src/sqlite/row.rs").stem(), "row");
        assert_eq!(file("store/src/sqlite/row.rs").folder(), "store");
    }
}
