//! What a piece of work reads and writes, checked before it begins: no output may
//! be an input, a file of a model or another output, and each can be made.

use std::fs;
use std::path::{Path, PathBuf};

use super::folder::model_files;
use super::output::{Place, resolved, unusable};
use linkproof_method::error::{Result, shown_path};

/// The files of a piece of work.
///
/// ```
/// use linkproof::io::Files;
///
/// # let folder = tempfile::tempdir()?;
/// let links = folder.path().join("links.csv");
/// std::fs::write(&links, "a,b\n")?;
/// let error = Files::default().reads([&links]).writes([&links]).check().unwrap_err();
/// assert!(error.to_string().contains("links.csv: is read as well"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Files {
    inputs: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
    folder: Option<PathBuf>,
}

impl Files {
    /// Adds files that are read.
    pub fn reads<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Files {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned());
        self.inputs.extend(paths);
        self
    }

    /// Adds the files of a model folder that is read.
    pub fn reads_model(self, folder: &Path) -> Files {
        self.reads(model_files::parts().map(|name| folder.join(name)))
    }

    /// Adds files that are written.
    pub fn writes<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Files {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned());
        self.outputs.extend(paths);
        self
    }

    /// Sets the folder that is written, or replaced, as a whole.
    pub fn writes_folder(mut self, path: &Path) -> Files {
        self.folder = Some(path.to_owned());
        self
    }

    /// Refuses, before anything is done, outputs that would destroy an input, a
    /// model or each other, and outputs that cannot be made.
    ///
    /// # Errors
    /// [`Error::Output`](linkproof_method::Error::Output) names the output.
    pub fn check(&self) -> Result<()> {
        let inputs: Vec<(&PathBuf, Known)> = self
            .inputs
            .iter()
            .filter_map(|path| Some((path, Known::of(path)?)))
            .collect();
        if let Some(folder) = &self.folder {
            let full = resolved(folder)?;
            // A file in the place of the folder is for whoever makes the folder to tell.
            let inside = |at: &Known| at.path != full && at.path.starts_with(&full);
            if let Some((input, _)) = inputs.iter().find(|(_, at)| inside(at)) {
                let found = format!("holds {}, which is read", shown_path(input));
                return Err(unusable(folder, &found, "expected another folder"));
            }
        }
        let mut earlier: Vec<(&PathBuf, PathBuf)> = Vec::new();
        for output in &self.outputs {
            let full = resolved(output)?;
            let known = Known::of(output);
            let same = |other: &Known| known.as_ref().is_some_and(|known| known.is(other));
            if let Some((input, _)) = inputs.iter().find(|(_, input)| same(input)) {
                let found = match *input == output {
                    true => "is read as well".to_owned(),
                    false => format!("is {}, which is read as well", shown_path(input)),
                };
                return Err(unusable(output, &found, "expected another file to write"));
            }
            if is_part_of_a_model(&full) {
                let found = "is a file of a model, which would be lost";
                return Err(unusable(output, found, "expected another file to write"));
            }
            let is_there = |other: &Path| Known::of(other).is_some_and(|other| same(&other));
            let twice = |(_, other): &&(&PathBuf, PathBuf)| {
                full.starts_with(other) || other.starts_with(&full) || is_there(other)
            };
            if let Some((other, _)) = earlier.iter().find(twice) {
                let found = format!("is written twice, also as {}", shown_path(other));
                return Err(unusable(output, &found, "expected two different files"));
            }
            if let Some(folder) = &self.folder
                && resolved(folder)?.starts_with(&full)
            {
                let found = format!("is written twice, also for {}", shown_path(folder));
                return Err(unusable(output, &found, "expected two different names"));
            }
            can_be_made(output)?;
            earlier.push((output, full));
        }
        Ok(())
    }
}

/// A plain file that exists. Pipes and devices, of which the input and the output
/// may be the same terminal, are none.
struct Known {
    path: PathBuf,
    #[cfg(unix)]
    place: (u64, u64),
}

impl Known {
    fn of(path: &Path) -> Option<Known> {
        let path = fs::canonicalize(path).ok()?;
        let there = fs::metadata(&path).ok()?;
        there.is_file().then(|| Known {
            path,
            #[cfg(unix)]
            place: {
                use std::os::unix::fs::MetadataExt;
                (there.dev(), there.ino())
            },
        })
    }

    /// Whether two names are of one file, be it by a link.
    fn is(&self, other: &Known) -> bool {
        #[cfg(unix)]
        if self.place == other.place {
            return true;
        }
        self.path == other.path
    }
}

/// Whether a file belongs to a model folder, or would if it were there.
fn is_part_of_a_model(full: &Path) -> bool {
    let (Some(folder), Some(name)) = (full.parent(), full.file_name()) else {
        return false;
    };
    model_files::parts().any(|part| name == part)
        && model_files::MARKS
            .iter()
            .all(|mark| folder.join(mark).is_file())
}

/// Makes a file beside the output, as writing it will, and removes it.
fn can_be_made(path: &Path) -> Result<()> {
    let place = Place::of(path)?;
    if place.is_file(path)? != Some(false) {
        place.side_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(files: &Files) -> String {
        files.check().unwrap_err().to_string()
    }

    #[test]
    fn outputs_are_neither_inputs_nor_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("inner")).unwrap();
        fs::write(at("a"), "").unwrap();
        let mut names = vec!["a", "inner/../a"];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../a", at("inner/soft")).unwrap();
            fs::hard_link(at("a"), at("hard")).unwrap();
            names.extend(["inner/soft", "hard"]);
        }
        for name in names {
            let text = refused(&Files::default().reads([at("a")]).writes([at(name)]));
            assert!(text.contains("is read as well"), "{text}");
            let text = refused(&Files::default().writes([at("a"), at(name)]));
            assert!(text.contains("is written twice"), "{text}");
        }
        let new = Files::default().writes([at("new/b"), at("inner/../new/b")]);
        assert!(refused(&new).contains("is written twice"));
        let back = Files::default().writes([at("b"), at("none/../b")]);
        assert!(refused(&back).contains("is written twice"));
        let below = Files::default().writes([at("new/b"), at("new/b/c")]);
        assert!(refused(&below).contains("is written twice"));
        let apart = Files::default().reads([at("a"), at("none")]);
        apart.writes([at("b"), at("new/b")]).check().unwrap();
        assert!(!at("new").exists(), "nothing is left");
    }

    #[test]
    fn files_of_a_model_are_safe() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let labels = || Files::default().writes([at("labels.csv")]);
        labels().check().unwrap();
        for mark in model_files::MARKS {
            fs::write(at(mark), "").unwrap();
        }
        assert!(refused(&labels()).contains("is a file of a model"));
        Files::default()
            .writes([at("report.html")])
            .check()
            .unwrap();
        let read = Files::default().reads_model(folder.path());
        assert!(refused(&read.writes([at("fit.json")])).contains("is read as well"));
    }

    #[test]
    fn a_folder_to_replace_holds_no_input() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("m")).unwrap();
        fs::write(at("m/links.csv"), "").unwrap();
        let work = Files::default().writes_folder(&at("m"));
        let text = refused(&work.clone().reads([at("m/links.csv")]));
        assert!(text.contains("links.csv, which is read"), "{text}");
        work.clone().writes([at("m/plot.svg")]).check().unwrap();
        assert!(refused(&work.writes([at("m")])).contains("is written twice"));
    }

    #[test]
    fn outputs_can_be_made() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "old").unwrap();
        for (path, what) in [
            (folder.path().to_owned(), "is a folder"),
            (file.join("below"), "cannot be written"),
        ] {
            let text = refused(&Files::default().writes([path]));
            assert!(text.contains(what), "{text}");
        }
        Files::default().writes([&file]).check().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"old");
        #[cfg(unix)]
        {
            let both = Files::default().reads(["/dev/null"]);
            both.writes(["/dev/null"]).check().unwrap();
        }
    }
}
