//! Downloads from a server that misbehaves.

use std::net::TcpListener;

use super::server::{Manner, Server};
use super::*;

/// 300,000 bytes that do not repeat soon.
fn content() -> Vec<u8> {
    (0..75_000u32)
        .flat_map(|x| x.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect()
}

struct Lab {
    folder: tempfile::TempDir,
    sha256: String,
}

impl Lab {
    fn new() -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("original");
        fs::write(&path, content()).unwrap();
        let sha256 = linkproof::io::digest(&path).unwrap();
        Lab { folder, sha256 }
    }

    fn room(&self) -> PathBuf {
        self.folder.path().join("x.download")
    }

    fn file(&self) -> KnownFile<'_> {
        KnownFile {
            name: "x",
            bytes: 300_000,
            sha256: &self.sha256,
        }
    }

    fn open(&self) -> Downloads {
        let connection = Connection {
            proxy: None,
            connect: Duration::from_secs(2),
            silence: Duration::from_millis(500),
            tries: 2,
            wait: Duration::from_millis(1),
        };
        Downloads::open(&self.room(), connection).unwrap()
    }

    /// Fetches, and expects the right file; returns the notes.
    fn fetch(&self, addresses: &[String]) -> Vec<String> {
        let mut downloads = self.open();
        let path = downloads.fetch(&self.file(), addresses, &mut |_| true);
        assert_eq!(fs::read(path.unwrap()).unwrap(), content());
        let notes = downloads.clear(&[self.file()]);
        assert!(!self.room().exists(), "nothing is left");
        notes
    }

    fn fails(&self, addresses: &[String]) -> String {
        let mut downloads = self.open();
        let error = downloads.fetch(&self.file(), addresses, &mut |_| true);
        error.unwrap_err().downcast::<NotFetched>().unwrap().0
    }

    fn part(&self) -> PathBuf {
        self.room().join("x.part")
    }

    fn leave_part(&self, bytes: &[u8]) {
        fs::create_dir_all(self.room()).unwrap();
        fs::write(self.part(), bytes).unwrap();
    }
}

#[test]
fn a_cut_line_is_continued() {
    for cut in [Manner::Cut(100_000), Manner::CutUntold(100_000)] {
        let lab = Lab::new();
        let server = Server::start(&content(), &[cut.clone(), cut, Manner::Status(503)]);
        assert!(lab.fetch(&[server.file("x")]).is_empty());
        let ranges = server.ranges();
        assert_eq!(ranges[0], None);
        assert!(ranges[1..].iter().all(Option::is_some), "{ranges:?}");
        assert_eq!(ranges.len(), 4);
        assert_eq!(ranges[2], ranges[3], "{ranges:?}");
    }
}

#[test]
fn a_later_run_continues() {
    let lab = Lab::new();
    lab.leave_part(&content()[..123_456]);
    let server = Server::start(&content(), &[]);
    assert!(lab.fetch(&[server.file("x")]).is_empty());
    assert_eq!(server.ranges(), [Some(123_456)]);
}

#[test]
fn a_whole_part_needs_no_request() {
    let lab = Lab::new();
    lab.leave_part(&content());
    assert!(lab.fetch(&["http://127.0.0.1:1/x".to_owned()]).is_empty());
}

#[test]
fn a_file_that_is_there_is_not_fetched_again() {
    let lab = Lab::new();
    fs::create_dir(lab.room()).unwrap();
    fs::write(lab.room().join("x"), content()).unwrap();
    assert!(lab.fetch(&["http://127.0.0.1:1/x".to_owned()]).is_empty());
    fs::create_dir(lab.room()).unwrap();
    fs::write(lab.room().join("x"), "something else").unwrap();
    let server = Server::start(&content(), &[]);
    let notes = lab.fetch(&[server.file("x")]);
    assert!(notes[0].contains("14 bytes"), "{notes:?}");
}

#[test]
fn a_server_without_ranges_sends_it_all_again() {
    let lab = Lab::new();
    lab.leave_part(&content()[..200_000]);
    let server = Server::start(&content(), &[Manner::Whole]);
    assert!(lab.fetch(&[server.file("x")]).is_empty());
    assert_eq!(server.ranges(), [Some(200_000)]);
}

#[test]
fn wrong_bytes_are_deleted_and_fetched_once_more() {
    let lab = Lab::new();
    lab.leave_part(&[b'?'; 1000]);
    let server = Server::start(&content(), &[]);
    let notes = lab.fetch(&[server.file("x")]);
    assert_eq!(server.ranges(), [Some(1000), None]);
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains(&lab.sha256), "{notes:?}");
    let wrong = Server::start(&content(), &[Manner::Wrong, Manner::Wrong, Manner::Wrong]);
    let error = lab.fails(&[wrong.file("x")]);
    assert!(error.contains(&wrong.file("x")), "{error}");
    assert!(error.contains(&lab.sha256), "{error}");
    assert_eq!(wrong.ranges(), [None, None]);
    assert!(!lab.room().exists(), "nothing is left");
    // Another address may have it.
    lab.fetch(&[wrong.file("x"), server.file("x")]);
}

#[test]
fn a_range_that_is_refused_starts_again() {
    let lab = Lab::new();
    lab.leave_part(&content()[..1000]);
    let server = Server::start(&content(), &[Manner::Status(416)]);
    let notes = lab.fetch(&[server.file("x")]);
    assert_eq!(server.ranges(), [Some(1000), None]);
    assert!(notes[0].contains("416"), "{notes:?}");
    lab.leave_part(&[b'?'; 300_001]);
    let notes = lab.fetch(&[server.file("x")]);
    assert!(notes[0].contains("more than the 300000 bytes"), "{notes:?}");
}

#[test]
fn an_offer_of_another_size_leaves_the_part() {
    let lab = Lab::new();
    lab.leave_part(&content()[..1000]);
    for manner in [Manner::Well, Manner::Whole] {
        let server = Server::start(
            b"<html>Please log in</html>".repeat(99).as_slice(),
            &[manner],
        );
        let error = lab.fails(&[server.file("x")]);
        assert!(
            error.contains("offers 2574 bytes, expected 300000"),
            "{error}"
        );
        assert!(error.contains("x.part keeps what has arrived"), "{error}");
        assert_eq!(fs::read(lab.part()).unwrap(), content()[..1000]);
    }
}

#[test]
fn addresses_that_do_not_answer_are_named_with_the_reason() {
    let lab = Lab::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let refused = format!("http://{}/x", closed.local_addr().unwrap());
    drop(closed);
    let manners = [Manner::Status(404), Manner::Silent, Manner::Silent];
    let server = Server::start(&content(), &manners);
    let addresses = [refused.clone(), server.file("x"), server.file("silent")];
    let error = lab.fails(&addresses);
    for what in ["x cannot be fetched", "refused", "404", "no answer in time"] {
        assert!(error.contains(what), "{what}: {error}");
    }
    assert!(addresses.iter().all(|address| error.contains(address)));
    assert!(!lab.room().exists(), "nothing is left");
    assert_eq!(server.ranges().len(), 3, "404 is not asked again");
}

#[test]
fn an_interrupt_keeps_what_has_arrived() {
    let lab = Lab::new();
    let server = Server::start(&content(), &[]);
    let mut downloads = lab.open();
    let addresses = [server.file("x")];
    let stopped = downloads.fetch(&lab.file(), &addresses, &mut |done| done == 0);
    let error = stopped.unwrap_err().to_string();
    assert!(error.contains("stopped by the user"), "{error}");
    drop(downloads);
    let kept = fs::metadata(lab.part()).unwrap().len();
    assert!((1..300_000).contains(&kept), "{kept}");
    lab.fetch(&addresses);
    assert_eq!(server.ranges(), [None, Some(kept as usize)]);
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let lab = Lab::new();
    let first = lab.open();
    let second = Downloads::open(&lab.room(), Connection::default());
    let error = second.err().unwrap().to_string();
    assert!(error.contains("another linkproof"), "{error}");
    drop(first);
    lab.open();
}
