"""Confidence intervals for a probability or a mean, and the power of a lower bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .validation import check_integer, check_number, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def error_of_each(confidence, n_statements):
    "The error probability of each of several intervals that hold together with `confidence` (Bonferroni)."
    confidence = check_number(confidence, "confidence", 0, 1, open_low=True, open_high=True)
    return (1 - confidence) / check_integer(n_statements, "n_statements")


def proportion_interval(
    successes: ArrayLike, trials: ArrayLike, confidence: float, n_statements: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Enclose probabilities by Clopper and Pearson's interval, whose coverage is at least the confidence.

    Parameters
    ----------
    successes, trials : array_like of int
        Counts, 0 ≤ successes ≤ trials.
    confidence : float
        In (0, 1).
    n_statements : int, default 1
        How many intervals must hold together (Bonferroni).

    Returns
    -------
    low, high : ndarray or float
        The ends.

    References
    ----------
    Clopper and Pearson (1934).

    Examples
    --------
    >>> from comparison_hc.checks import proportion_interval
    >>> low, high = proportion_interval(8, 10, 0.95)
    >>> round(float(low), 3), round(float(high), 3)
    (0.444, 0.975)
    """
    s, m = np.asarray(successes), np.asarray(trials)
    error = error_of_each(confidence, n_statements)
    possible = s.dtype.kind in "iu" and (s >= 0).all() and (s <= m).all()
    require(possible, "successes", "whole numbers from 0 to trials", successes)
    require(m.dtype.kind in "iu" and (m >= 1).all(), "trials", "whole numbers of at least 1", trials)
    return clopper_pearson(s, m - s, error)


def clopper_pearson(successes, failures, error):
    "Both ends of the interval that misses with probability at most `error`; counts need not be whole."
    from scipy.special import betaincinv

    s, f = np.asarray(successes), np.asarray(failures)
    low = np.where(s > 0, betaincinv(np.where(s > 0, s, 1), f + 1, error / 2), 0.0)
    high = np.where(f > 0, betaincinv(s + 1, np.where(f > 0, f, 1), 1 - error / 2), 1.0)
    return low[()], high[()]


def mean_interval(
    values: ArrayLike, confidence: float, low: float | None = None, high: float | None = None, n_statements: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Enclose a mean: by Hoeffding's inequality for bounded values, else by Student's t, which is approximate.

    Parameters
    ----------
    values : array_like of shape (m,) or (m, k)
        Independent draws, m ≥ 2.
    confidence : float
        In (0, 1).
    low, high : float, optional
        Bounds of the values; given together or not at all.
    n_statements : int, default 1
        How many intervals must hold together (Bonferroni).

    Returns
    -------
    low, high : ndarray or float
        The ends.

    References
    ----------
    Hoeffding (1963).

    Examples
    --------
    >>> from comparison_hc.checks import mean_interval
    >>> low, high = mean_interval([0.0, 1.0] * 50, 0.95, low=0, high=1)
    >>> round(float(low), 3), round(float(high), 3)
    (0.364, 0.636)
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


def proportion_bounds(successes: ArrayLike, trials: ArrayLike, false_passes: float) -> tuple[np.ndarray, np.ndarray]:
    """Bound a probability from one side by Clopper and Pearson: use one of the two ends.

    Parameters
    ----------
    successes, trials : array_like of int
        Counts, 0 ≤ successes ≤ trials.
    false_passes : float
        Probability in (0, ½) that the bound fails.

    Returns
    -------
    low, high : ndarray or float
        A lower bound and an upper bound.

    Examples
    --------
    >>> from comparison_hc.checks import proportion_bounds
    >>> round(float(proportion_bounds(100, 100, 0.01)[0]), 3)
    0.955
    """
    error = check_number(false_passes, "false_passes", 0, 0.5, open_low=True, open_high=True)
    return proportion_interval(successes, trials, 1 - 2 * error)


def passing_probability(rate: float, trials: int, target: float, false_passes: float) -> float:
    """Compute the power of a lower bound: how often it reaches a target, exactly. For an upper one take 1 − rate.

    Parameters
    ----------
    rate : float
        The true probability.
    trials : int
        How many trials there are.
    target : float
        What the lower bound must reach.
    false_passes : float
        As in `proportion_bounds`.

    Returns
    -------
    float

    Examples
    --------
    >>> from comparison_hc.checks import passing_probability
    >>> round(passing_probability(0.99, 500, 0.95, 0.01), 3)
    0.999
    """
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
