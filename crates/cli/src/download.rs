//! Files from the network, believed only when their digest is right.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use linkproof::Error;
use linkproof::io::digest;
use ureq::http::{StatusCode, header};
use ureq::{Agent, Proxy};

/// A file whose content is known beforehand.
#[derive(Debug, Clone, Copy)]
pub struct KnownFile<'f> {
    /// Its name, here and there.
    pub name: &'f str,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256 digest in hexadecimal.
    pub sha256: &'f str,
}

impl KnownFile<'_> {
    /// What a file holds instead; `None` when it is this one.
    pub fn differs(&self, path: &Path) -> Result<Option<String>, Error> {
        let metadata = fs::metadata(path).map_err(|source| Error::read(path, source))?;
        let (bytes, sha256) = (metadata.len(), digest(path)?);
        let is_right = bytes == self.bytes && sha256 == self.sha256;
        Ok((!is_right).then(|| format!("{bytes} bytes with the SHA-256 {sha256}")))
    }

    /// In words, for messages.
    pub fn expected(&self) -> String {
        format!("{} bytes with the SHA-256 {}", self.bytes, self.sha256)
    }
}

/// How downloads use the network.
pub struct Network {
    agent: Agent,
    /// The wait before the second try, which doubles from try to try.
    wait: Duration,
}

/// Tries at one address.
const TRIES: u32 = 4;

/// Why one try brought no file.
enum Fault {
    /// Another try may do.
    Passing(String),
    /// This address will not do.
    Address(String),
    /// It is not the network's fault.
    Run(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Run(error)
    }
}

impl Default for Network {
    fn default() -> Network {
        let seconds = Duration::from_secs;
        Network::new(Proxy::try_from_env(), seconds(30), seconds(1) / 2)
    }
}

impl Network {
    /// `silence` is the longest wait for an answer or for more of it.
    fn new(proxy: Option<Proxy>, silence: Duration, wait: Duration) -> Network {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(proxy)
            .timeout_resolve(Some(silence / 2))
            .timeout_connect(Some(silence / 2))
            .timeout_recv_response(Some(silence))
            .timeout_per_read(Some(silence))
            .user_agent(concat!("linkproof/", env!("CARGO_PKG_VERSION")))
            .build();
        let agent = Agent::new_with_config(config);
        Network { agent, wait }
    }

    /// Writes a file to `target`, from the first of the `folders` that has it; `watch` gets
    /// the number of bytes so far. If none has it, the inner result holds the reasons.
    pub fn fetch(
        &self,
        file: &KnownFile<'_>,
        folders: &[String],
        target: &Path,
        watch: &dyn Fn(u64),
    ) -> Result<Result<(), String>, Error> {
        let mut reasons = Vec::new();
        for folder in folders {
            let address = format!("{folder}/{}", file.name);
            let mut tried = 1;
            let why = loop {
                match self.attempt(&address, file, target, watch) {
                    Ok(()) => return Ok(Ok(())),
                    Err(Fault::Run(error)) => return Err(error),
                    Err(Fault::Passing(_)) if tried < TRIES => {
                        std::thread::sleep(self.wait * (1 << tried) / 2);
                        tried += 1;
                    }
                    Err(Fault::Passing(why) | Fault::Address(why)) => break why,
                }
            };
            reasons.push(format!("{address}: {why}"));
        }
        let reasons = reasons.join("; ");
        Ok(Err(format!("{} cannot be fetched: {reasons}", file.name)))
    }

    fn attempt(
        &self,
        address: &str,
        file: &KnownFile<'_>,
        target: &Path,
        watch: &dyn Fn(u64),
    ) -> Result<(), Fault> {
        // Packed on the way, the length would mean something else.
        let request = self.agent.get(address);
        let request = request.header(header::ACCEPT_ENCODING, "identity");
        let response = request.call().map_err(no_answer)?;
        let status = response.status();
        if status != StatusCode::OK {
            let why = format!("the server answered {status}");
            let again = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
            let again = status.is_server_error() || again.contains(&status);
            return Err(if again {
                Fault::Passing(why)
            } else {
                Fault::Address(why)
            });
        }
        // Another file, or the page of a network that wants a login first.
        let total = response.body().content_length();
        if let Some(total) = total.filter(|&total| total != file.bytes) {
            return Err(Fault::Address(format!(
                "the server offers {total} bytes, expected {}",
                file.bytes
            )));
        }
        // No more than it takes to see that it is another file.
        let mut reader = response.into_body().into_reader().take(file.bytes + 1);
        let cannot = |source| Error::write(target, source);
        let mut out = File::create(target).map_err(cannot)?;
        let (mut bytes, mut length) = (vec![0; 1 << 16], 0);
        let end = loop {
            watch(length);
            match reader.read(&mut bytes) {
                Ok(0) => break "it ended".to_owned(),
                Ok(read) => {
                    out.write_all(&bytes[..read]).map_err(cannot)?;
                    length += read as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break reason(&ureq::Error::from(error)),
            }
        };
        if length < file.bytes {
            return Err(Fault::Passing(format!(
                "broke off after {length} of {} bytes ({end})",
                file.bytes
            )));
        }
        let expected = file.expected();
        file.differs(target)?.map_or(Ok(()), |found| {
            Err(Fault::Address(format!(
                "found {found}, expected {expected}"
            )))
        })
    }
}

/// No answer at all. A line that broke is worth another try; a host that is not there is
/// not, so that the message comes soon.
fn no_answer(error: ureq::Error) -> Fault {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof};
    let broken = [
        BrokenPipe,
        ConnectionAborted,
        ConnectionReset,
        TimedOut,
        UnexpectedEof,
    ];
    let why = reason(&error);
    match error {
        ureq::Error::Timeout(_) => Fault::Passing(why),
        ureq::Error::Io(error) if broken.contains(&error.kind()) => Fault::Passing(why),
        _ => Fault::Address(why),
    }
}

fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Timeout(what) => format!("no answer in time ({what})"),
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "../tests/cli/server.rs"]
mod server;

/// Downloads from a server that misbehaves.
#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::server::{Manner, Server};
    use super::*;

    /// 300,000 bytes that do not repeat soon.
    fn content() -> Vec<u8> {
        let words = (0..75_000u32).map(|x| x.wrapping_mul(2_654_435_761));
        words.flat_map(u32::to_le_bytes).collect()
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
            let sha256 = digest(&path).unwrap();
            Lab { folder, sha256 }
        }

        /// What comes of the folders with these addresses.
        fn fetch(&self, folders: &[String]) -> Result<(), String> {
            let milliseconds = Duration::from_millis;
            let network = Network::new(None, milliseconds(500), milliseconds(1));
            let file = KnownFile {
                name: "x",
                bytes: 300_000,
                sha256: &self.sha256,
            };
            let target = self.folder.path().join("x");
            network.fetch(&file, folders, &target, &|_| ()).unwrap()?;
            assert_eq!(fs::read(target).unwrap(), content());
            Ok(())
        }
    }

    #[test]
    fn a_cut_line_is_tried_again() {
        for cut in [Manner::Cut(100_000), Manner::CutUntold(100_000)] {
            let server = Server::start(&content(), &[cut.clone(), cut, Manner::Status(503)]);
            Lab::new().fetch(&[server.file("a")]).unwrap();
            assert_eq!(server.requests(), 4);
        }
    }

    #[test]
    fn wrong_bytes_are_not_believed() {
        let lab = Lab::new();
        let wrong = Server::start(&content(), &[Manner::Wrong, Manner::Wrong]);
        let error = lab.fetch(&[wrong.file("a")]).unwrap_err();
        assert!(error.contains(&wrong.file("a/x")), "{error}");
        assert!(error.contains(&lab.sha256), "{error}");
        // Another address may have it.
        let server = Server::start(&content(), &[]);
        lab.fetch(&[wrong.file("a"), server.file("a")]).unwrap();
        assert_eq!(wrong.requests(), 2);
    }

    #[test]
    fn an_offer_of_another_size_is_refused() {
        let page = b"<html>Please log in</html>".repeat(99);
        let server = Server::start(&page, &[]);
        let error = Lab::new().fetch(&[server.file("a")]).unwrap_err();
        let offer = "offers 2574 bytes, expected 300000";
        assert!(error.contains(offer), "{error}");
    }

    #[test]
    fn addresses_that_do_not_answer_are_named_with_the_reason() {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap();
        let refused = format!("http://{}", closed.local_addr().unwrap());
        drop(closed);
        let mut manners = vec![Manner::Silent; 5];
        manners[0] = Manner::Status(404);
        let server = Server::start(&content(), &manners);
        let addresses = [refused, server.file("a"), server.file("silent")];
        let error = Lab::new().fetch(&addresses).unwrap_err();
        for what in ["x cannot be fetched", "refused", "404", "no answer in time"] {
            assert!(error.contains(what), "{what}: {error}");
        }
        assert!(addresses.iter().all(|address| error.contains(address)));
        assert_eq!(server.requests(), 5, "404 is not asked again");
    }
}
