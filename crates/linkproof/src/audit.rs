//! How far each link is to be believed, given a fit.

use crate::model::Fitted;
use crate::params::ScoreKind;

/// A link and what a fit thinks of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The row of one end.
    pub src: u32,
    /// The row of the other end.
    pub dst: u32,
    /// The weight as observed.
    pub weight: f64,
    /// The expected weight.
    pub mu: f64,
    /// `p(w|mu)/p(w|w)` where the weight is larger than expected, else 1.
    pub trust: f64,
    /// The link's weight in the estimating equation.
    pub influence: f64,
}

/// `log( p(w|mu) / p(w|w) )` for a Poisson `p` where `w > mu`, else 0: a link
/// that is weaker than expected is no suspect.
pub fn log_trust(w: f64, mu: f64) -> f64 {
    if w > mu {
        w * (mu.ln() - w.ln()) + w - mu
    } else {
        0.0
    }
}

/// The weight of a link in the estimating equation: `trust^beta` under the
/// probability score, `min(1, mu^beta)` under the moment score, 1 under the
/// likelihood.
pub fn influence(score: ScoreKind, beta: f64, log_trust: f64, mu: f64) -> f64 {
    match score {
        ScoreKind::Probability => (beta * log_trust).exp(),
        ScoreKind::Moment => mu.powf(beta).min(1.0),
        ScoreKind::Likelihood => 1.0,
    }
}

/// Judges links between rows of a model, least trusted first.
pub fn judge(model: &Fitted, links: impl Iterator<Item = crate::graph::Link>) -> Vec<Verdict> {
    let params = model.params();
    let mut verdicts: Vec<(f64, Verdict)> = links
        .map(|link| {
            let mu = model.mu(link.src as usize, link.dst as usize);
            let log_trust = log_trust(link.weight, mu);
            let verdict = Verdict {
                src: link.src,
                dst: link.dst,
                weight: link.weight,
                mu,
                trust: log_trust.exp(),
                influence: influence(params.score, params.beta, log_trust, mu),
            };
            (log_trust, verdict)
        })
        .collect();
    verdicts.sort_by(|a, b| {
        a.0.total_cmp(&b.0)
            .then((a.1.src, a.1.dst).cmp(&(b.1.src, b.1.dst)))
    });
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_falls_with_surprise_only() {
        assert_eq!(log_trust(1.0, 2.0), 0.0);
        let expected = (0.5f64 * (-0.5f64).exp()) / (-1.0f64).exp();
        assert!((log_trust(1.0, 0.5).exp() - expected).abs() < 1e-12);
        assert!(log_trust(100.0, 0.5) < log_trust(2.0, 0.5));
        assert_eq!(influence(ScoreKind::Likelihood, 0.5, -3.0, 0.1), 1.0);
        assert_eq!(influence(ScoreKind::Moment, 0.5, -3.0, 0.25), 0.5);
        assert_eq!(influence(ScoreKind::Moment, 0.5, -3.0, 9.0), 1.0);
        assert_eq!(
            influence(ScoreKind::Probability, 0.5, -4.0, 0.1),
            (-2.0f64).exp()
        );
    }
}
