use super::*;

fn kind() -> FolderKind {
    FolderKind::new("a letter", ["x"], ["y", "inner/z"])
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn refused(path: &Path, force: bool) -> String {
    let error = OutputFolder::create(path, kind(), force).unwrap_err();
    assert!(matches!(error, Error::Output { .. }), "{error}");
    error.to_string()
}

#[test]
fn folders_appear_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("a/letter");
    let made = OutputFolder::create(&target, kind(), false).unwrap();
    fs::write(made.file("x"), "1").unwrap();
    drop(made);
    assert!(names(folder.path()).is_empty());

    let made = OutputFolder::create(&target, kind(), false).unwrap();
    fs::write(made.file("x"), "1").unwrap();
    made.commit().unwrap();
    assert_eq!(names(&target), ["x"]);

    let text = refused(&target, false);
    assert!(text.contains("already holds a letter"), "{text}");
    assert!(text.contains("force"), "{text}");

    let made = OutputFolder::create(&target, kind(), true).unwrap();
    fs::write(made.file("x"), "2").unwrap();
    fs::write(made.file("y"), "2").unwrap();
    assert_eq!(names(&target), ["x"]);
    made.commit().unwrap();
    assert_eq!(names(&target), ["x", "y"]);
    assert_eq!(names(&folder.path().join("a")), ["letter"]);

    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let made = OutputFolder::create(&empty, kind(), false).unwrap();
    fs::write(made.file("z"), "3").unwrap();
    made.commit().unwrap();
    assert_eq!(names(&empty), ["z"]);
}

#[test]
fn only_folders_of_the_same_kind_are_replaced() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("t");
    let cases: [(&[&str], Option<&str>); 9] = [
        (&["x"], None),
        (
            &[
                "x",
                "y",
                "inner/z",
                ".y.linkproof-a1B2c3",
                "inner/.z.linkproof-a1B2c3",
            ],
            None,
        ),
        (&["y"], Some("'y'")),
        (&["x", "diary.txt"], Some("'diary.txt'")),
        (&["x", "inner/z", "inner/w"], Some("'inner/w'")),
        (&["x", "inner/x"], Some("'inner/x'")),
        (&["x", "z"], Some("'z'")),
        (&["x", "y/more"], Some("'y'")),
        (&["x", ".y.backup-of-mine"], Some("'.y.backup-of-mine'")),
    ];
    for (files, foreign) in cases {
        for file in files {
            let path = target.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "mine").unwrap();
        }
        match foreign {
            None => drop(OutputFolder::create(&target, kind(), true).unwrap()),
            Some(name) => {
                let text = refused(&target, true);
                assert!(text.contains(&format!("holds {name}, which")), "{text}");
                let text = refused(&target, false);
                assert!(!text.contains("force"), "{text}");
            }
        }
        assert_eq!(fs::read(target.join(files[0])).unwrap(), b"mine");
        fs::remove_dir_all(&target).unwrap();
    }
}

#[test]
fn a_file_that_comes_during_the_work_is_kept_and_so_is_the_work() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("t");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("x"), "old").unwrap();
    let made = OutputFolder::create(&target, kind(), true).unwrap();
    fs::write(made.file("x"), "new").unwrap();
    fs::write(target.join("diary"), "mine").unwrap();
    let text = made.commit().unwrap_err().to_string();
    assert!(text.contains("'diary'"), "{text}");
    // A later run does not take it for something left behind.
    fs::remove_file(target.join("diary")).unwrap();
    drop(OutputFolder::create(&target, kind(), true).unwrap());
    let beside = names(root.path());
    assert!(beside[0] == "t" && beside[1].starts_with("t.kept-") && beside.len() == 2);
    let kept = root.path().join(&beside[1]);
    assert!(text.contains(&shown_path(&kept)), "{text}");
    assert_eq!(fs::read(kept.join("x")).unwrap(), b"new");
    assert_eq!(names(&target), ["x"]);
}

#[test]
fn a_file_beside_the_others_may_be_named() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("t");
    fs::create_dir(&target).unwrap();
    for name in ["x", "plot.svg"] {
        fs::write(target.join(name), "").unwrap();
    }
    refused(&target, true);
    let plot = root.path().join("t/../t/plot.svg");
    let with_plot = kind().and(&target, &plot).unwrap();
    OutputFolder::create(&target, with_plot, true).unwrap();
    let elsewhere = kind().and(&target, &root.path().join("plot.svg")).unwrap();
    assert!(OutputFolder::create(&target, elsewhere, true).is_err());
}

#[test]
fn unusable_targets_are_refused_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [&file, &file.join("below"), Path::new("/"), Path::new(".")] {
        refused(path, true);
    }
    let here = std::env::current_dir().unwrap();
    let parent = here.parent().unwrap();
    for path in [here.as_path(), parent] {
        let text = refused(path, true);
        assert!(text.contains("the current folder"), "{text}");
    }
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&here, &link).unwrap();
        assert!(refused(&link, false).contains("the current folder"));
        let dangling = folder.path().join("dangling");
        std::os::unix::fs::symlink("gone", &dangling).unwrap();
        assert!(refused(&dangling, false).contains("symbolic link to nothing"));
    }
}
