//! A small web server for tests, which can be told to misbehave.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// How the next request is answered.
#[derive(Debug, Clone)]
pub enum Manner {
    /// As it should be, ranges included.
    Well,
    /// As a server that knows no ranges.
    Whole,
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
    ranges: Arc<Mutex<Vec<Option<usize>>>>,
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
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let seen = ranges.clone();
        let mut manners: VecDeque<Manner> = manners.iter().cloned().collect();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let manner = manners.pop_front().unwrap_or(Manner::Well);
                let (content, seen) = (content.clone(), seen.clone());
                std::thread::spawn(move || {
                    // The other side may leave whenever it likes.
                    let _ = answer(stream.unwrap(), &manner, &*content, &seen);
                });
            }
        });
        Server { address, ranges }
    }

    /// The address of a file.
    pub fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.address)
    }

    /// Where each request so far wanted to begin; `None` for the whole.
    pub fn ranges(&self) -> Vec<Option<usize>> {
        self.ranges.lock().unwrap().clone()
    }
}

fn answer(
    mut stream: TcpStream,
    manner: &Manner,
    content: &dyn Fn(&str) -> Vec<u8>,
    seen: &Mutex<Vec<Option<usize>>>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    let mut range = None;
    for line in lines.by_ref() {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(from) = line.strip_prefix("range: bytes=") {
            range = from.trim_end_matches('-').parse().ok();
        }
    }
    seen.lock().unwrap().push(range);
    let mut content = content(&path);
    let total = content.len();
    if let Manner::Wrong = manner {
        content.fill(b'x');
    }
    let range = range.filter(|_| !matches!(manner, Manner::Whole));
    let (status, start) = match (manner, range) {
        (Manner::Status(status), _) => (*status, total),
        (_, Some(start)) if start >= total => (416, total),
        (_, Some(start)) => (206, start),
        (_, None) => (200, 0),
    };
    let body = &content[start..];
    write!(
        stream,
        "HTTP/1.1 {status} Some reason\r\nConnection: close\r\n"
    )?;
    if status == 206 {
        let end = total - 1;
        write!(stream, "Content-Range: bytes {start}-{end}/{total}\r\n")?;
    }
    if !matches!(manner, Manner::CutUntold(_)) {
        write!(stream, "Content-Length: {}\r\n", body.len())?;
    }
    stream.write_all(b"\r\n")?;
    match manner {
        Manner::Silent => std::thread::sleep(std::time::Duration::from_secs(3)),
        Manner::Cut(n) | Manner::CutUntold(n) => stream.write_all(&body[..body.len().min(*n)])?,
        _ => stream.write_all(body)?,
    }
    stream.shutdown(Shutdown::Write)
}
