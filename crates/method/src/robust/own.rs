//! Settings that are not the user's to make in a robust fit.

/// The settings that the recipe makes itself, and why. (A ridge may be given.)
pub const OWN_SETTINGS: [(&str, &str); 9] = [
    ("score", "it fits the likelihood of believed links"),
    ("beta", "it believes links by evidence, not by beta"),
    (
        "weights",
        "it reads weights as evidence, whatever their unit",
    ),
    ("propagate", "it decides about averages itself"),
    ("walks", "it walks over believed links"),
    (
        "walks-weighted",
        "it walks over links by how far they are believed",
    ),
    ("validation", "its last fit holds no pairs out"),
    ("lambda", "it takes the weight of all pairs that is exact"),
    ("view-pairs", "it takes all pairs of views that have links"),
];
