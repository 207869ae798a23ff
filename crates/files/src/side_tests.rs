use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{FolderKind, OutputFolder, write_file};

thread_local! {
    pub(super) static CANNOT_EXCHANGE: Cell<bool> = const { Cell::new(false) };
}

fn kind() -> FolderKind {
    FolderKind::new("a letter", ["x"], ["y"])
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Writes a letter, new or over an old one.
fn write(target: &Path, text: &str) {
    let made = OutputFolder::create(target, kind(), true).unwrap();
    fs::write(made.file("x"), text).unwrap();
    made.commit().unwrap();
}

fn read(target: &Path) -> String {
    fs::read_to_string(target.join("x")).unwrap()
}

#[test]
fn what_dead_processes_left_goes_and_what_is_alive_stays() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let left = [".t.linkproof-abcDE1", ".t.linkproof-abcDE2"];
    fs::create_dir_all(at(left[0]).join("inner")).unwrap();
    fs::write(at(left[0]).join("x"), "half").unwrap();
    fs::write(at(left[1]), "half").unwrap();
    let other = [".t.abcDE3", ".t.linkproof-abc", ".u.linkproof-abcDE4", "u"];
    for name in other {
        fs::write(at(name), "mine").unwrap();
    }
    // Another file of the same name's making, which is at work.
    let place = Place::of(&at("t")).unwrap();
    let alive = SideFile::new(&place).unwrap();
    assert!(!at(left[0]).exists() && !at(left[1]).exists());
    write(&at("t"), "1");
    assert!(alive.file.path().exists());
    drop(alive);
    write_file(at("u"), |_| Ok(())).unwrap();
    let mut expected = vec![".t.abcDE3", ".t.linkproof-abc", "t", "u"];
    expected.sort_unstable();
    assert_eq!(names(root.path()), expected);
}

#[test]
fn one_process_writes_to_a_place() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("t");
    let first = OutputFolder::create(&target, kind(), true).unwrap();
    let second = OutputFolder::create(&target, kind(), true).unwrap_err();
    let text = second.to_string();
    assert!(
        text.contains("is being written by another process"),
        "{text}"
    );
    drop(first);
    assert!(names(root.path()).is_empty());
    // A lock whose process is gone holds nobody up.
    fs::write(root.path().join(".t.linkproof-lock"), "").unwrap();
    write(&target, "1");
    assert_eq!(names(root.path()), ["t"]);
}

#[test]
fn many_runs_in_one_place_do_not_take_what_another_makes() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("t");
    let written = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..30 {
                    write_file(&target, |file| {
                        io::Write::write_all(file, format!("{round}").as_bytes())
                    })
                    .unwrap();
                    written.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(written.load(Ordering::Relaxed), 120);
    assert_eq!(names(root.path()), ["t"]);
}

#[test]
fn folders_are_replaced_with_and_without_an_exchange() {
    for cannot in [false, true] {
        CANNOT_EXCHANGE.set(cannot);
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("t");
        write(&target, "1");
        write(&target, "2");
        assert_eq!(read(&target), "2");
        assert_eq!(names(root.path()), ["t"]);
    }
    CANNOT_EXCHANGE.set(false);
}

/// Every state that a kill can leave between the steps of a replacement.
#[test]
fn replacements_cut_short_are_finished_or_undone() {
    let states: [(&[(&str, &str)], &str); 4] = [
        (&[("t", "1"), (".t.linkproof-new", "2")], "1"),
        (&[(".t.linkproof-old", "1"), (".t.linkproof-new", "2")], "2"),
        (&[("t", "2"), (".t.linkproof-old", "1")], "2"),
        (&[(".t.linkproof-old", "1")], "1"),
    ];
    for (state, expected) in states {
        for by_reader in [false, true] {
            let root = tempfile::tempdir().unwrap();
            let target = root.path().join("t");
            for (name, text) in state {
                fs::create_dir(root.path().join(name)).unwrap();
                fs::write(root.path().join(name).join("x"), text).unwrap();
            }
            match by_reader {
                true => recovered(&target),
                false => drop(OutputFolder::create(&target, kind(), true).unwrap()),
            }
            assert_eq!(read(&target), expected, "{state:?}");
            if !by_reader {
                assert_eq!(names(root.path()), ["t"]);
            }
        }
    }
}

#[test]
fn long_names_can_be_written() {
    let root = tempfile::tempdir().unwrap();
    for letter in ["n", "ü"] {
        let name = letter.repeat(240 / letter.len());
        write_file(root.path().join(&name), |_| Ok(())).unwrap();
        write(&root.path().join(name + "t"), "1");
    }
    assert_eq!(names(root.path()).len(), 4);
}
