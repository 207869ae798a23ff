//! Settings that are not the user's to make in a robust fit.

use crate::params::Param;

/// The settings that the recipe makes itself, and why. (A ridge may be given.)
pub const OWN_SETTINGS: [(Param, &str); 9] = [
    (Param::Score, "it fits the likelihood of believed links"),
    (Param::Beta, "it believes links by evidence, not by beta"),
    (
        Param::Weights,
        "it reads weights as evidence, whatever their unit",
    ),
    (Param::Propagate, "it decides about averages itself"),
    (Param::Walks, "it walks over believed links"),
    (
        Param::WalksWeighted,
        "it walks over links by how far they are believed",
    ),
    (Param::Validation, "its last fit holds no pairs out"),
    (
        Param::Lambda,
        "it takes the weight of all pairs that is exact",
    ),
    (
        Param::ViewPairs,
        "it takes all pairs of views that have links",
    ),
];
