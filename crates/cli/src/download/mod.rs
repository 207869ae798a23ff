//! Files from the network: continued where they broke off, and believed only
//! when their digest is right.

mod answer;
mod file;

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use linkproof::Error;
use linkproof::io::Listed;
use ureq::http::header;
use ureq::{Agent, Proxy};

use answer::{Fault, continues, no_answer, pause, receive};
use file::Part;

pub use file::KnownFile;

/// No address had the file: which ones, and why.
#[derive(Debug)]
pub struct NotFetched(String);

impl fmt::Display for NotFetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFetched {}

/// How the network is used.
#[derive(Debug, Clone)]
pub struct Connection {
    /// A proxy, if one is to be asked.
    pub proxy: Option<Proxy>,
    /// The longest wait for a connection.
    pub connect: Duration,
    /// The longest silence while something is to arrive.
    pub silence: Duration,
    /// Tries in a row that may bring nothing new.
    pub tries: u32,
    /// The wait before the second try, which doubles from try to try.
    pub wait: Duration,
}

impl Default for Connection {
    fn default() -> Connection {
        Connection {
            proxy: Proxy::try_from_env(),
            connect: Duration::from_secs(15),
            silence: Duration::from_secs(30),
            tries: 4,
            wait: Duration::from_millis(500),
        }
    }
}

/// A folder in which files arrive: `NAME.part` until they are whole and right.
/// A later run continues what it finds there.
pub struct Downloads {
    folder: PathBuf,
    lock: Option<File>,
    /// What a run that is ended at once takes along.
    _listed: [Listed; 2],
    agent: Agent,
    connection: Connection,
    notes: Vec<String>,
}

const LOCK: &str = "lock";

impl Downloads {
    /// Makes the folder and keeps other runs out of it.
    pub fn open(folder: &Path, connection: Connection) -> anyhow::Result<Downloads> {
        let cannot = |source| Error::write(folder, source);
        fs::create_dir_all(folder).map_err(cannot)?;
        let lock = File::create(folder.join(LOCK)).map_err(cannot)?;
        // A file system without locks has to do without.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            bail!(
                "{}: another linkproof is fetching into it; wait for that one, or choose another --out",
                folder.display()
            );
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(connection.proxy.clone())
            .timeout_resolve(Some(connection.connect))
            .timeout_connect(Some(connection.connect))
            .timeout_recv_response(Some(connection.silence))
            .timeout_per_read(Some(connection.silence))
            .user_agent(concat!("linkproof/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Downloads {
            folder: folder.to_owned(),
            lock: Some(lock),
            _listed: [Listed::if_empty(folder), Listed::all(&folder.join(LOCK))],
            agent: Agent::new_with_config(config),
            connection,
            notes: Vec::new(),
        })
    }

    /// Fetches a file from the first of `addresses` that has it; one that is
    /// there and right is not fetched again. `watch` is told how many bytes
    /// there are, and says whether to go on.
    pub fn fetch(
        &mut self,
        file: &KnownFile<'_>,
        addresses: &[String],
        watch: &mut dyn FnMut(u64) -> bool,
    ) -> anyhow::Result<PathBuf> {
        let target = self.folder.join(file.name);
        if target.is_file() {
            let Some(found) = file.differs(&target)? else {
                return Ok(target);
            };
            let name = file.name;
            self.notes
                .push(format!("{name}: had {found}; fetched again"));
            fs::remove_file(&target).map_err(|source| Error::write(&target, source))?;
        }
        let mut part = Part::open(self.folder.join(format!("{}.part", file.name)))?;
        let mut reasons = Vec::new();
        for address in addresses {
            match self.fetch_from(address, file, &mut part, watch) {
                Ok(()) => {
                    part.finish(&target)?;
                    return Ok(target);
                }
                Err(Fault::Run(error)) => return Err(error),
                Err(Fault::Passing(why) | Fault::Part(why) | Fault::Address(why)) => {
                    reasons.push(format!("{address}: {why}"));
                }
            }
        }
        let kept = match part.length()? {
            0 => String::new(),
            _ => format!(
                " ({} keeps what has arrived, and the next run continues it)",
                part.path.display()
            ),
        };
        let reasons = reasons.join("; ");
        Err(NotFetched(format!("{} cannot be fetched{kept}: {reasons}", file.name)).into())
    }

    /// Tries one address until it is clear whether it has the file.
    fn fetch_from(
        &mut self,
        address: &str,
        file: &KnownFile<'_>,
        part: &mut Part,
        watch: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Fault> {
        let mut fresh = false;
        let mut idle = 0;
        let mut longest = part.length()?;
        loop {
            match self.attempt(address, file, part, watch) {
                Err(Fault::Part(why)) => {
                    part.clear()?;
                    self.notes
                        .push(format!("{}: {why}; deleted what had arrived", file.name));
                    if fresh {
                        return Err(Fault::Address(why));
                    }
                    fresh = true;
                    longest = 0;
                }
                Err(Fault::Passing(why)) => {
                    // A slow line may break as often as it likes, while each
                    // try gets further than all before.
                    let length = part.length()?;
                    idle = if length > longest { 0 } else { idle + 1 };
                    longest = longest.max(length);
                    if idle >= self.connection.tries {
                        return Err(Fault::Address(why));
                    }
                    pause(self.connection.wait * (1 << idle.min(8)), part, watch)?;
                }
                end => return end,
            }
        }
    }

    /// One request, for what is missing.
    fn attempt(
        &self,
        address: &str,
        file: &KnownFile<'_>,
        part: &mut Part,
        watch: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Fault> {
        let mut length = part.length()?;
        if length < file.bytes {
            // Packed on the way, ranges and lengths would mean something else.
            let mut request = self
                .agent
                .get(address)
                .header(header::ACCEPT_ENCODING, "identity");
            if length > 0 {
                request = request.header(header::RANGE, format!("bytes={length}-"));
            }
            let response = request.call().map_err(no_answer)?;
            if !continues(&response, file, length)? {
                part.clear()?;
            }
            length = receive(response.into_body(), file, part, watch)?;
        }
        if length > file.bytes {
            return Err(Fault::Part(format!(
                "more than the {} bytes expected",
                file.bytes
            )));
        }
        match file.differs(&part.path)? {
            None => Ok(()),
            Some(found) => Err(Fault::Part(format!(
                "found {found}, expected {}",
                file.expected()
            ))),
        }
    }

    /// Removes what was fetched, after it has been put to use; returns what
    /// went wrong on the way and was mended.
    pub fn clear(mut self, files: &[KnownFile<'_>]) -> Vec<String> {
        for file in files {
            // A file that stays does no harm, and the next run may use it.
            let _ = fs::remove_file(self.folder.join(file.name));
        }
        std::mem::take(&mut self.notes)
    }
}

impl Drop for Downloads {
    fn drop(&mut self) {
        drop(self.lock.take());
        let _ = fs::remove_file(self.folder.join(LOCK));
        // Fails, as it should, where anything is left to continue.
        let _ = fs::remove_dir(&self.folder);
    }
}

#[cfg(test)]
#[path = "../../tests/cli/server.rs"]
// Shared with the tests of commands, which need more of it.
#[allow(dead_code)]
mod server;
#[cfg(test)]
mod tests;
