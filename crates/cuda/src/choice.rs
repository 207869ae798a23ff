//! Where a user wants fits to be computed.

use std::fmt;
use std::str::FromStr;
use std::thread::JoinHandle;

use linkproof_method::engine::{Backend, Cpu};
use linkproof_method::error::{Error, Result};

use crate::{Cuda, Objectives, Products};

/// Below this number of nodes a card is not worth its start.
const WORTH_A_CARD: usize = 5000;

/// Where a user wants fits to be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// On a card where there is one and the graph is large, else on the processor.
    #[default]
    Auto,
    /// On the processor.
    Cpu,
    /// On the card of this number.
    Cuda(usize),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Choice, String> {
        let number = match text {
            "auto" => return Ok(Choice::Auto),
            "cpu" => return Ok(Choice::Cpu),
            "cuda" => Some(0),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|rest| rest.parse().ok()),
        };
        let words = || "auto, cpu, cuda, or cuda:N with the number of a card".to_owned();
        number.map(Choice::Cuda).ok_or_else(words)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Auto => f.write_str("auto"),
            Choice::Cpu => f.write_str("cpu"),
            Choice::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

/// The products that `LINKPROOF_PRODUCTS` asks for.
fn products() -> Result<Products> {
    let asked = std::env::var("LINKPROOF_PRODUCTS").unwrap_or_default();
    match asked.as_str() {
        "" | "exact" => Ok(Products::Exact),
        "fast" => Ok(Products::Fast),
        "plain" => Ok(Products::Plain),
        other => Err(Error::Device {
            device: "LINKPROOF_PRODUCTS".to_owned(),
            found: format!("found {other:?}; expected exact, fast or plain, or it unset"),
        }),
    }
}

/// Where objectives with networks, offsets and the like are wanted, in the words of
/// `LINKPROOF_OBJECTIVES`.
fn objectives(asked: &str) -> Result<Objectives> {
    match asked {
        "" | "card" => Ok(Objectives::Card),
        "host" => Ok(Objectives::Host),
        other => Err(Error::Device {
            device: "LINKPROOF_OBJECTIVES".to_owned(),
            found: format!("found {other:?}; expected card or host, or it unset"),
        }),
    }
}

/// A card as the environment wants it.
fn asked(card: Cuda) -> Result<Chosen> {
    let asked = std::env::var("LINKPROOF_OBJECTIVES").unwrap_or_default();
    let card = card.products(products()?).objectives(objectives(&asked)?);
    Ok(Chosen::Card(card))
}

/// What computes.
#[derive(Debug, Clone)]
pub enum Chosen {
    /// The processor.
    Cpu,
    /// A card.
    Card(Cuda),
}

impl Choice {
    /// What computes fits of so many nodes.
    ///
    /// # Errors
    /// [`linkproof_method::error::Error::Device`] where a card was asked for and cannot
    /// be used.
    pub fn open(self, n_nodes: usize) -> Result<Chosen> {
        let card = match self {
            Choice::Cpu => return Ok(Chosen::Cpu),
            Choice::Cuda(number) => Cuda::open(number)?,
            Choice::Auto if n_nodes < WORTH_A_CARD || Cuda::count() == 0 => {
                return Ok(Chosen::Cpu);
            }
            Choice::Auto => match Cuda::open(0) {
                Ok(card) => card,
                Err(_) => return Ok(Chosen::Cpu),
            },
        };
        asked(card)
    }
}

/// A choice whose card is opened while data are read: a card takes half a second.
#[derive(Debug)]
pub struct Opening {
    choice: Choice,
    card: Option<JoinHandle<Result<Cuda>>>,
}

impl Choice {
    /// Begins to open a card that is asked for. Whether one is worth it is known
    /// later, so nothing begins where that decides.
    pub fn begin(self) -> Opening {
        let card = match self {
            Choice::Cuda(number) => Some(std::thread::spawn(move || Cuda::open(number))),
            Choice::Auto | Choice::Cpu => None,
        };
        Opening { choice: self, card }
    }
}

impl Opening {
    /// What computes fits of so many nodes, as [`Choice::open`].
    ///
    /// # Errors
    /// As [`Choice::open`].
    pub fn open(&mut self, n_nodes: usize) -> Result<Chosen> {
        match self.card.take().and_then(|card| card.join().ok()) {
            Some(card) => asked(card?),
            None => self.choice.open(n_nodes),
        }
    }
}

impl Drop for Opening {
    /// A program must not end while the driver begins.
    fn drop(&mut self) {
        if let Some(card) = self.card.take() {
            // Whoever drops it wants no card.
            let _ = card.join();
        }
    }
}

impl Chosen {
    /// The backend.
    pub fn backend(&self) -> &dyn Backend {
        match self {
            Chosen::Cpu => &Cpu,
            Chosen::Card(card) => card,
        }
    }

    /// The card, if it is one.
    pub fn card(&self) -> Option<&Cuda> {
        match self {
            Chosen::Cpu => None,
            Chosen::Card(card) => Some(card),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_shown() {
        for (text, choice) in [
            ("auto", Choice::Auto),
            ("cpu", Choice::Cpu),
            ("cuda:0", Choice::Cuda(0)),
            ("cuda:12", Choice::Cuda(12)),
        ] {
            assert_eq!(text.parse(), Ok(choice));
            assert_eq!(choice.to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(Choice::Cuda(0)));
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda0"] {
            assert!(text.parse::<Choice>().is_err(), "{text}");
        }
    }

    #[test]
    fn objectives_are_on_the_card_or_on_the_host() {
        assert_eq!(objectives("").ok(), Some(Objectives::Card));
        assert_eq!(objectives("card").ok(), Some(Objectives::Card));
        assert_eq!(objectives("host").ok(), Some(Objectives::Host));
        let words = objectives("gpu").map_err(|error| error.to_string());
        assert!(words.is_err_and(|words| words.contains("expected card or host")));
    }

    #[test]
    fn without_a_card_one_that_is_asked_for_is_an_error_and_none_is_silence() {
        assert!(
            Choice::Auto
                .open(10)
                .is_ok_and(|chosen| chosen.card().is_none())
        );
        if Cuda::count() == 0 {
            assert!(
                Choice::Auto
                    .open(1_000_000)
                    .is_ok_and(|chosen| chosen.card().is_none())
            );
            let error = Choice::Cuda(0)
                .open(10)
                .map(|_| ())
                .map_err(|error| error.to_string());
            let begun = Choice::Cuda(0).begin().open(10).map(|_| ());
            let begun = begun.map_err(|error| error.to_string());
            assert_eq!(begun, error);
            assert!(error.is_err_and(|words| words.starts_with("cuda:0: this machine has no")));
        }
    }
}
