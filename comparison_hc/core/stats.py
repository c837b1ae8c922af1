"""What a sample says about a probability or a mean, with a stated chance of being wrong."""

import numpy as np

from .validation import check_integer, check_number, require

def error_of_each(confidence, n_statements):
    "The error probability of each of several intervals that hold together with `confidence` (Bonferroni)."
    confidence = check_number(confidence, "confidence", 0, 1, open_low=True, open_high=True)
    return (1 - confidence) / check_integer(n_statements, "n_statements")


def proportion_interval(successes, trials, confidence, n_statements=1):
    "Clopper and Pearson's interval for a probability (1934): encloses it with at least the confidence, whatever it is."
    from scipy.special import betaincinv

    s, m = np.asarray(successes), np.asarray(trials)
    error = error_of_each(confidence, n_statements)
    possible = s.dtype.kind in "iu" and (s >= 0).all() and (s <= m).all()
    require(possible, "successes", "whole numbers from 0 to trials", successes)
    require(m.dtype.kind in "iu" and (m >= 1).all(), "trials", "whole numbers of at least 1", trials)
    low = np.where(s > 0, betaincinv(np.maximum(s, 1), m - s + 1, error / 2), 0.0)
    high = np.where(s < m, betaincinv(s + 1, np.maximum(m - s, 1), 1 - error / 2), 1.0)
    return low[()], high[()]

def mean_interval(values, confidence, low=None, high=None, n_statements=1):
    """An interval for a mean.

    Hoeffding's (1963) for bounded values, which never promises too much; otherwise Student's t, approximate.
    """
    from scipy.special import stdtrit

    x = np.asarray(values, dtype=float)
    error = error_of_each(confidence, n_statements)
    enough = x.ndim in (1, 2) and len(x) >= 2 and np.isfinite(x).all()
    require(enough, "values", "finite numbers, (m,) or (m, k) with m ≥ 2", values)
    require((low is None) == (high is None), "low and high", "given together or not at all", (low, high))
    mean, m = x.mean(axis=0), len(x)
    if low is None:
        half = stdtrit(m - 1, 1 - error / 2) * x.std(axis=0, ddof=1) / np.sqrt(m)
    else:
        inside = low < high and x.min() >= low and x.max() <= high
        require(inside, "values", f"in [{low}, {high}]", (float(x.min()), float(x.max())))
        half = (high - low) * np.sqrt(np.log(2 / error) / (2 * m))
    return mean - half, mean + half

def proportion_bounds(successes, trials, false_passes):
    "Clopper and Pearson's one-sided bounds for a probability: use one of the two ends."
    error = check_number(false_passes, "false_passes", 0, 0.5, open_low=True, open_high=True)
    return proportion_interval(successes, trials, 1 - 2 * error)


def passing_probability(rate, trials, target, false_passes):
    "Power: how often the lower bound of so many trials reaches the target, exactly. For an upper one take 1 − rate."
    from scipy.special import betainc

    low, _ = proportion_bounds(np.arange(check_integer(trials, "trials") + 1), trials, false_passes)
    needed = int(np.searchsorted(low, target))
    if needed in (0, trials + 1):
        return float(needed == 0)
    return float(betainc(needed, trials - needed + 1, rate))


def corrected_resampled_interval(values, ratio, error=0.05):
    """Nadeau and Bengio's corrected resampled t interval (2003) for a mean over splits of the same data.

    `values` has one row per split; `ratio` is the number of test rows divided by the number of training rows. The ends
    are NaN for fewer than three splits.
    """
    from scipy.special import stdtrit

    values = np.asarray(values, dtype=float)
    J = len(values)
    if J < 3:
        return np.full((2, *values.shape[1:]), np.nan)
    half = stdtrit(J - 1, 1 - error / 2) * values.std(axis=0, ddof=1) * np.sqrt(1 / J + ratio)
    return values.mean(axis=0) - half, values.mean(axis=0) + half
