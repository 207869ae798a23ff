//! Damage: bits, bytes, pieces moved, dropped and taken from elsewhere, and words that
//! mean something to a reader.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Words at which readers look twice.
const WORDS: [&[u8]; 40] = [
    b"0",
    b"-1",
    b"1e309",
    b"nan",
    b"inf",
    b"-0.0",
    b"4294967295",
    b"4294967296",
    b"18446744073709551615",
    b"9223372036854775808",
    b"1e-320",
    b"\"",
    b"\"\"",
    b",",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"#",
    b"%",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"src",
    b"dst",
    b"weight",
    b"node",
    b"label",
    b"view",
    b"<script>",
    b"</script>",
    b"'",
    b"&",
    b"{",
    b"}",
    b"[",
    b"= ",
    b"\xf0\x9f\xa6\x80",
];

fn below(random: &mut ChaCha8Rng, end: usize) -> usize {
    random.random_range(0..end.max(1))
}

/// A part of some bytes.
fn part<'b>(bytes: &'b [u8], random: &mut ChaCha8Rng) -> &'b [u8] {
    let start = below(random, bytes.len() + 1);
    let most = 1 << below(random, 10);
    let end = start + below(random, most + 1).min(bytes.len() - start);
    &bytes[start..end]
}

/// Makes an input from those of a pool.
pub fn mutate(pool: &[Vec<u8>], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = pool[below(random, pool.len())].clone();
    for _ in 0..1 + below(random, 6) {
        let place = below(random, bytes.len() + 1);
        match below(random, 9) {
            0 if !bytes.is_empty() => {
                let place = below(random, bytes.len());
                bytes[place] ^= 1 << below(random, 8);
            }
            1 if !bytes.is_empty() => {
                let place = below(random, bytes.len());
                bytes[place] = random.random();
            }
            2 => bytes.truncate(place),
            3 => {
                let end = place + below(random, 64).min(bytes.len() - place);
                bytes.drain(place..end);
            }
            4 => {
                let copy = part(&bytes, random).to_vec();
                bytes.splice(place..place, copy);
            }
            5 => {
                let other = &pool[below(random, pool.len())];
                let taken = part(other, random).to_vec();
                let end = place + taken.len().min(bytes.len() - place);
                bytes.splice(place..end, taken);
            }
            6 => {
                let word = WORDS[below(random, WORDS.len())];
                bytes.splice(place..place, word.iter().copied());
            }
            7 => {
                // A number of a header.
                let value: u64 = match below(random, 4) {
                    0 => u64::MAX,
                    1 => 1 << below(random, 63),
                    2 => (1u64 << below(random, 63)).wrapping_sub(1),
                    _ => random.random(),
                };
                let width = [1, 2, 4, 8][below(random, 4)];
                let end = place + width.min(bytes.len() - place);
                let number = value.to_le_bytes();
                bytes.splice(place..end, number[..width].iter().copied());
            }
            _ => {
                let word = WORDS[below(random, WORDS.len())];
                let end = place + word.len().min(bytes.len() - place);
                bytes.splice(place..end, word.iter().copied());
            }
        }
    }
    bytes
}
