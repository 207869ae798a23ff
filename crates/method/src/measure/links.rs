//! Link prediction: how well scores tell linked pairs from unlinked ones.

use crate::error::{Error, Result};

/// The chance that a random positive scores above a random negative, ties
/// counting one half: the area under the ROC curve.
///
/// ```
/// let auc = linkproof::measure::auc(&[0.9, 0.2, 0.2], &[true, true, false])?;
/// assert_eq!(auc, 0.75);
/// # Ok::<(), linkproof::error::Error>(())
/// ```
pub fn auc(scores: &[f64], positive: &[bool]) -> Result<f64> {
    let groups = descending_groups(scores, positive)?;
    let positives: u64 = groups.iter().map(|group| group.positives).sum();
    let negatives: u64 = groups.iter().map(|group| group.negatives).sum();
    let mut above = 0;
    let mut twice_wins = 0u128;
    for group in &groups {
        let below_or_tied = 2 * (negatives - above) - group.negatives;
        twice_wins += u128::from(group.positives) * u128::from(below_or_tied);
        above += group.negatives;
    }
    Ok(twice_wins as f64 / (2 * u128::from(positives) * u128::from(negatives)) as f64)
}

/// The mean precision over the positives, `sum_t (R_t - R_{t-1}) P_t`, with
/// precision `P_t` and recall `R_t` at each distinct score `t` from the highest
/// down. No interpolation.
pub fn average_precision(scores: &[f64], positive: &[bool]) -> Result<f64> {
    let groups = descending_groups(scores, positive)?;
    let (mut taken, mut hits, mut sum) = (0, 0, 0.0);
    for group in &groups {
        taken += group.positives + group.negatives;
        hits += group.positives;
        sum += group.positives as f64 * (hits as f64 / taken as f64);
    }
    Ok(sum / hits as f64)
}

/// The pairs that share a score.
struct Tied {
    positives: u64,
    negatives: u64,
}

/// The tied groups from the highest score down; at least one positive and one negative.
fn descending_groups(scores: &[f64], positive: &[bool]) -> Result<Vec<Tied>> {
    if scores.len() != positive.len() {
        return Err(Error::data(
            "scores",
            format!("{} scores and {} labels", scores.len(), positive.len()),
            "one of each for every pair",
        ));
    }
    if let Some(place) = scores.iter().position(|score| score.is_nan()) {
        return Err(Error::data(
            "scores",
            format!("NaN at place {place} (counted from 0)"),
            "numbers",
        ));
    }
    for (kind, name) in [(true, "positive"), (false, "negative")] {
        if !positive.contains(&kind) {
            return Err(Error::data(
                "labels",
                format!("no {name}"),
                "at least one positive and one negative",
            ));
        }
    }
    let mut ranked: Vec<(f64, bool)> = scores
        .iter()
        .copied()
        .zip(positive.iter().copied())
        .collect();
    ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    // The two zeros differ in the order but are equal, hence one group.
    let groups = ranked.chunk_by(|a, b| a.0 == b.0).map(|tied| {
        let positives = tied.iter().filter(|pair| pair.1).count() as u64;
        Tied {
            positives,
            negatives: tied.len() as u64 - positives,
        }
    });
    Ok(groups.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_worked_out_by_hand() {
        let scores = [0.9, 0.8, 0.8, 0.1];
        let positive = [true, false, true, false];
        assert_eq!(auc(&scores, &positive).unwrap(), 3.5 / 4.0);
        let expected = (1.0 + 2.0 / 3.0) / 2.0;
        assert_eq!(average_precision(&scores, &positive).unwrap(), expected);
    }

    #[test]
    fn signed_zeros_tie_and_infinities_rank() {
        let auc_of = |a, b| auc(&[a, b], &[true, false]).unwrap();
        assert_eq!(auc_of(0.0, -0.0), 0.5);
        assert_eq!(auc_of(-0.0, 0.0), 0.5);
        assert_eq!(auc_of(f64::NEG_INFINITY, -1.0), 0.0);
    }

    #[test]
    fn unusable_input_is_refused() {
        assert!(auc(&[1.0, 2.0], &[true, true]).is_err());
        assert!(auc(&[1.0, 2.0], &[false, false]).is_err());
        assert!(auc(&[1.0, f64::NAN], &[true, false]).is_err());
        assert!(auc(&[1.0], &[true, false]).is_err());
        assert!(auc(&[], &[]).is_err());
        assert!(average_precision(&[1.0, 2.0], &[false, false]).is_err());
        assert!(average_precision(&[1.0, 2.0], &[true, true]).is_err());
        assert!(average_precision(&[1.0, f64::NAN], &[true, false]).is_err());
    }
}
