//! A small web server for tests, which can be told to misbehave.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How the next request is answered.
#[derive(Debug, Clone)]
#[allow(
    dead_code,
    reason = "the tests of commands and of downloads need some each"
)]
pub enum Manner {
    /// As it should be.
    Well,
    /// As it should be, but the line breaks after so many bytes of the body.
    Cut(usize),
    /// Without telling the length, and cut after so many bytes.
    CutUntold(usize),
    /// With this status and no more.
    Status(u16),
    /// With other bytes, as many as asked for.
    Wrong,
    /// Nothing, until the other side gives up.
    Silent,
}

/// A server on a port of its own. Requests beyond the listed ones are
/// answered well. It ends with the test.
pub struct Server {
    address: String,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// Serves one content under every name.
    pub fn start(content: &[u8], manners: &[Manner]) -> Server {
        let files = content.to_vec();
        Server::start_with(manners, move |_| files.clone())
    }

    /// Serves what `content` makes of the path asked for.
    pub fn start_with(
        manners: &[Manner],
        content: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Server {
        let content = Arc::new(content);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let seen = requests.clone();
        let mut manners: VecDeque<Manner> = manners.iter().cloned().collect();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                seen.fetch_add(1, Ordering::Relaxed);
                let manner = manners.pop_front().unwrap_or(Manner::Well);
                let content = content.clone();
                std::thread::spawn(move || {
                    // The other side may leave whenever it likes.
                    let _ = answer(stream.unwrap(), &manner, &*content);
                });
            }
        });
        Server { address, requests }
    }

    /// The address of a file or folder.
    pub fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

fn answer(
    mut stream: TcpStream,
    manner: &Manner,
    content: &dyn Fn(&str) -> Vec<u8>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    for line in lines.by_ref() {
        if line?.is_empty() {
            break;
        }
    }
    let mut content = content(&path);
    let status = match manner {
        Manner::Status(status) => {
            content.clear();
            *status
        }
        Manner::Wrong => {
            content.fill(b'x');
            200
        }
        _ => 200,
    };
    write!(
        stream,
        "HTTP/1.1 {status} Some reason\r\nConnection: close\r\n"
    )?;
    if !matches!(manner, Manner::CutUntold(_)) {
        write!(stream, "Content-Length: {}\r\n", content.len())?;
    }
    stream.write_all(b"\r\n")?;
    match manner {
        Manner::Silent => std::thread::sleep(std::time::Duration::from_secs(3)),
        Manner::Cut(n) | Manner::CutUntold(n) => stream.write_all(&content[..*n])?,
        _ => stream.write_all(&content)?,
    }
    stream.shutdown(Shutdown::Write)
}
