//! Statistics: the uncertainty of a figure. Wilson's interval for shares, a seeded bootstrap for means, so that the
//! same results give the same report.

use crate::rng::Rng;

/// A figure and its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Interval {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// The 97.5 % point of the normal distribution.
const Z: f64 = 1.959_964;
/// Bootstrap samples per interval.
const DRAWS: usize = 2000;

/// A share, with Wilson's interval.
#[expect(clippy::cast_precision_loss, reason = "trials are few")]
pub fn wilson(n_right: usize, n: usize) -> Interval {
    if n == 0 {
        return Interval { mean: 0.0, low: 0.0, high: 1.0 };
    }
    let (share, n) = (n_right as f64 / n as f64, n as f64);
    let bottom = 1.0 + Z * Z / n;
    let middle = (share + Z * Z / (2.0 * n)) / bottom;
    let half = Z / bottom * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    // The formula is exact at the ends; avoid rounding errors there.
    let low = if n_right == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if share >= 1.0 { 1.0 } else { (middle + half).min(1.0) };
    Interval { mean: share, low, high }
}

/// A mean, with its bootstrap interval.
pub fn bootstrap(values: &[f64], seed: &str) -> Interval {
    let center = mean(values);
    if values.len() < 2 {
        return Interval { mean: center, low: center, high: center };
    }
    let mut rng = Rng::of(&["bootstrap", seed]);
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn: Vec<f64> = (0..values.len()).map(|_| *rng.pick(values)).collect();
            mean(&drawn)
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |permille: usize| means.get(DRAWS * permille / 1000).copied().unwrap_or(center);
    Interval { mean: center, low: at(25), high: at(975) }
}

/// The mean; 0 for an empty list.
#[expect(clippy::cast_precision_loss, reason = "trials are few")]
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The value below which this many of a thousand lie; 0 for an empty list.
pub fn quantile(values: &[f64], permille: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let idx = sorted.len().saturating_sub(1) * permille.min(1000) / 1000;
    sorted.get(idx).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(interval: Interval) -> String {
        format!("{:.3} {:.3} {:.3}", interval.mean, interval.low, interval.high)
    }

    #[test]
    fn a_share_of_few_is_less_sure_than_one_of_many() {
        // The published values of Wilson's interval for 0/10, 5/10, 10/10 and 81/263.
        let all = [wilson(0, 10), wilson(5, 10), wilson(10, 10), wilson(81, 263), wilson(0, 0)].map(shown);
        assert_eq!(
            all.join("\n"),
            "0.000 0.000 0.278\n0.500 0.237 0.763\n1.000 0.722 1.000\n0.308 0.255 0.366\n0.000 0.000 1.000"
        );
    }

    #[test]
    fn a_mean_has_the_same_interval_every_time() {
        let values: Vec<f64> = (0..40).map(|n| f64::from(n % 5) / 4.0).collect();
        let interval = bootstrap(&values, "x");
        assert_eq!(interval, bootstrap(&values, "x"));
        // The standard error is 0.056; the interval is about twice that to each side.
        assert!((interval.mean - 0.5).abs() < 1e-12 && (0.36..0.42).contains(&interval.low), "{interval:?}");
        assert!((0.58..0.64).contains(&interval.high), "{interval:?}");
        assert_eq!(shown(bootstrap(&[0.5], "x")), "0.500 0.500 0.500");
        assert_eq!(shown(bootstrap(&[], "x")), "0.000 0.000 0.000");
    }

    #[test]
    fn quantiles_are_values_that_occur() {
        let values = [3.0, 1.0, 2.0, 10.0];
        let at = [0, 500, 950, 1000].map(|at| format!("{:.0}", quantile(&values, at)));
        assert_eq!(at, ["1", "2", "3", "10"]);
        assert!(quantile(&[], 500).abs() < f64::EPSILON);
    }
}
