//! What a server's answer is worth.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use linkproof::Error;
use ureq::Body;
use ureq::http::{Response, StatusCode, header};

use super::file::{KnownFile, Part};

/// Why one try brought no file.
pub(super) enum Fault {
    /// Another try may do.
    Passing(String),
    /// What has arrived is of no use; from the start it may do.
    Part(String),
    /// This address will not do.
    Address(String),
    /// It is not the network's fault.
    Run(anyhow::Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Run(error.into())
    }
}

/// No answer at all. A line that broke is worth another try; a host that is
/// not there is not, so that the message comes soon.
pub(super) fn no_answer(error: ureq::Error) -> Fault {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, Interrupted, TimedOut, UnexpectedEof,
    };
    let why = reason(&error);
    match error {
        ureq::Error::Timeout(_) => Fault::Passing(why),
        ureq::Error::Io(error) => match error.kind() {
            BrokenPipe | ConnectionAborted | ConnectionReset | Interrupted | TimedOut
            | UnexpectedEof => Fault::Passing(why),
            _ => Fault::Address(why),
        },
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

/// Whether the answer goes on after the `have` bytes that are there; else it
/// starts from the beginning.
pub(super) fn continues(
    response: &Response<Body>,
    file: &KnownFile<'_>,
    have: u64,
) -> Result<bool, Fault> {
    let status = response.status();
    let (goes_on, total) = match status {
        StatusCode::OK => (false, response.body().content_length()),
        StatusCode::PARTIAL_CONTENT => {
            let (start, total) = content_range(response);
            if start != Some(have) {
                return Err(Fault::Part(format!(
                    "the server sent another range than the one from byte {have} on"
                )));
            }
            (true, total)
        }
        StatusCode::RANGE_NOT_SATISFIABLE => {
            let why = format!("the server has nothing from byte {have} on ({status})");
            return Err(Fault::Part(why));
        }
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
            return Err(Fault::Passing(format!("the server answered {status}")));
        }
        _ => {
            let why = format!("the server answered {status}");
            return Err(match status.is_server_error() {
                true => Fault::Passing(why),
                false => Fault::Address(why),
            });
        }
    };
    // Another file, or the page of a network that wants a login first: what
    // has arrived so far is better than that.
    match total.filter(|&total| total != file.bytes) {
        Some(total) => Err(Fault::Address(format!(
            "the server offers {total} bytes, expected {}",
            file.bytes
        ))),
        None => Ok(goes_on),
    }
}

/// Start and total of `Content-Range: bytes 5-9/10`, as far as they are told.
fn content_range(response: &Response<Body>) -> (Option<u64>, Option<u64>) {
    let value = response.headers().get(header::CONTENT_RANGE);
    let text = value.and_then(|value| value.to_str().ok()).unwrap_or("");
    let (range, total) = text.split_once('/').unwrap_or((text, ""));
    let start = range.trim().strip_prefix("bytes ").and_then(|range| {
        let (start, _) = range.split_once('-')?;
        start.trim().parse().ok()
    });
    (start, total.trim().parse().ok())
}

/// Appends what arrives; returns how many bytes there are then, which are all
/// or too many.
pub(super) fn receive(
    body: Body,
    file: &KnownFile<'_>,
    part: &mut Part,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<u64, Fault> {
    let mut reader = body.into_reader();
    let mut bytes = vec![0; 1 << 16];
    let mut length = part.length()?;
    loop {
        if !watch(length) {
            return Err(stopped(part));
        }
        // No more than it takes to see that it is another file.
        if length > file.bytes {
            return Ok(length);
        }
        match reader.read(&mut bytes) {
            Ok(0) if length == file.bytes => return Ok(length),
            Ok(0) => return Err(broke_off(length, file, "it ended")),
            Ok(read) => {
                part.append(&bytes[..read])?;
                length += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(broke_off(length, file, &reason(&ureq::Error::from(error))));
            }
        }
    }
}

fn broke_off(length: u64, file: &KnownFile<'_>, why: &str) -> Fault {
    Fault::Passing(format!(
        "broke off after {length} of {} bytes ({why})",
        file.bytes
    ))
}

/// Waits, and still listens for an interrupt.
pub(super) fn pause(
    wait: Duration,
    part: &Part,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<(), Fault> {
    let length = part.length()?;
    let end = Instant::now() + wait;
    while Instant::now() < end {
        if !watch(length) {
            return Err(stopped(part));
        }
        std::thread::sleep(wait.min(Duration::from_millis(50)));
    }
    Ok(())
}

fn stopped(part: &Part) -> Fault {
    Fault::Run(anyhow!(
        "stopped by the user; {} keeps what has arrived, and the next run continues it",
        part.path.display()
    ))
}
