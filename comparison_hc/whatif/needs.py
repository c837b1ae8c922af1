"""A mean curve that may not fall, the place where it crosses the target, and an interval from resampled repetitions."""

from dataclasses import dataclass
from math import floor, inf, isfinite, log10

import numpy as np

from ..core.validation import as_rng


def monotone(y):
    "Isotonic regression with equal weights, by its min-max formula."
    n = y.shape[-1]
    sums = np.concatenate([np.zeros((*y.shape[:-1], 1)), np.cumsum(y, axis=-1)], axis=-1)
    best = np.full(y.shape, -inf)
    for a in range(n):
        means = (sums[..., a + 1 :] - sums[..., a : a + 1]) / np.arange(1, n - a + 1)
        least = np.minimum.accumulate(means[..., ::-1], axis=-1)[..., ::-1]
        best[..., a:] = np.maximum(best[..., a:], least)
    return best


def crossing(x, y, target, log=False):
    "Inverse interpolation of a curve that does not fall."
    place = np.log(x) if log else np.asarray(x, dtype=float)
    reached = y >= target
    at = np.argmax(reached, axis=-1)
    before = np.maximum(at - 1, 0)
    here, there = (np.take_along_axis(y, k[..., None], axis=-1)[..., 0] for k in (before, at))
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(here < there, (target - here) / (there - here), 0.0)
    found = place[before] + part * (place[at] - place[before])
    found = np.exp(found) if log else found
    return np.where(~reached.any(axis=-1), inf, np.where(reached[..., 0], -inf, found))


LEVEL = 0.95  # of every interval


def resampled_means(values, n_resamples, rng, joint=False):
    "Means of repetitions that are drawn with replacement."
    from scipy.special import ndtri, stdtrit

    n, R = values.shape
    tail = (1 + LEVEL) / 2
    factor = np.sqrt(R / (R - 1)) * stdtrit(R - 1, tail) / ndtri(tail) if R > 1 else 1.0
    mean = values.mean(axis=1, keepdims=True)
    wide = mean + factor * (values - mean)
    drawn = as_rng(rng).integers(R, size=(n_resamples, 1 if joint else n, R)).repeat(n if joint else 1, axis=1)
    return np.take_along_axis(wide[None], drawn, axis=2).mean(axis=2)


@dataclass(frozen=True)
class Needed:
    "Where a mean curve reaches a target."

    value: float  # −∞: at the first x already; ∞: not up to the last
    low: float  # of the interval
    high: float  # its upper end
    resamples: np.ndarray  # (B,) crossings of the resampled curves

    @property
    def half(self):
        "Half the width of the interval, or ∞."
        return (self.high - self.low) / 2 if isfinite(self.low) and isfinite(self.high) else inf


def needed(x, values, target, log=False, falls=False, n_resamples=1000, rng=0, joint=False):
    "How much is enough, with an interval by the bootstrap."
    x, values = np.asarray(x, dtype=float), np.asarray(values, dtype=float)
    means, again = values.mean(axis=1), resampled_means(values, n_resamples, rng, joint)
    if falls:  # the first place, from the right, that is high enough
        top = x[0] + x[-1]
        value, found = (top - crossing(top - x[::-1], monotone(y[..., ::-1]), target) for y in (means, again))
    else:
        value, found = (crossing(x, monotone(y), target, log) for y in (means, again))
    tails = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    low, high = np.quantile(found, tails, method="inverted_cdf")
    return Needed(float(value), float(low), float(high), found)


def rounded(value, half):
    "A number with ±, both rounded to the first digit of the second, or to two where that begins with 1."
    if not isfinite(half) or half <= 0:
        return f"{float(f'{value:.3g}'):,g}" if abs(value) < 1e6 else f"{value:,.0f}"
    digits = _first_digits(half)
    half = round(half, digits)
    digits = _first_digits(half)  # 96 has become 100
    places = max(digits, 0)
    return f"{round(value, digits):,.{places}f} ± {half:,.{places}f}"


def _first_digits(half):
    "Digits after the point up to the first one; up to the second where the first is 1."
    at = -floor(log10(half))
    return at + (round(half, at) < 2 * 10.0**-at)


def need_words(found, x, last, first, unit="", goal="", letter="", falls=False):
    "What is needed, in words."

    def place(value):
        return f"{value:,.0f} {unit}" if unit else f"{letter} = {value:g}"

    ends = (x[-1], x[0]) if falls else (x[0], x[-1])
    verb, best, worst = ("with", "fewest", "most") if unit else ("at", "hardest", "easiest")
    if found.value == (inf if falls else -inf):
        return f"reaches {goal} even {verb} {place(ends[0])}, the {best} tried ({first})"
    if not isfinite(found.value):
        return f"does not reach {goal} {verb} {place(ends[1])}, the {worst} tried ({last})"
    number = rounded(found.value, found.half)
    verb = f"needs {{}} {unit} for {goal}" if unit else f"reaches {goal} {'up to' if falls else 'from'} {letter} = {{}}"
    if isfinite(found.half):
        return verb.format(number)
    side = ""
    if isfinite(found.low):
        side = f", and at least {rounded(found.low, 0)}; these runs leave open how much at most"
    elif isfinite(found.high):
        side = f", and at most {rounded(found.high, 0)}; these runs leave open how much at least"
    return verb.format(f"about {number}") + (side or "; how exactly, these runs leave open")


def mean_and_half(values):
    "Student's interval along the last axis."
    from scipy.special import stdtrit

    values = np.asarray(values, dtype=float)
    R = values.shape[-1]
    if R < 2:
        return values.mean(axis=-1), np.full(values.shape[:-1], np.nan)
    return values.mean(axis=-1), stdtrit(R - 1, (1 + LEVEL) / 2) * values.std(axis=-1, ddof=1) / np.sqrt(R)


ENDS = dict(aari=(-1.0, 1.0), ari=(-1.0, 1.0), loss=(0.0, 1.0))  # of the measures that have any


def mean_and_ends(values, measure="aari"):
    "The mean and its interval, cut off where the measure ends."
    mean, half = mean_and_half(values)
    return mean, *cut_off(mean, half, measure)


def cut_off(mean, half, measure="aari"):
    "The ends of an interval, where the measure ends at the latest."
    least, most = ENDS.get(measure, (-np.inf, np.inf))
    return np.clip(mean - half, least, most), np.clip(mean + half, least, most)


def mean_in_words(values, measure="aari"):
    "The mean with ±; with both ends of its interval where one is cut off."
    return with_interval(*mean_and_half(values), measure)


def with_interval(mean, half, measure="aari"):
    "A mean with ±; with both ends of its interval where one is cut off."
    low, high = cut_off(mean, half, measure)
    if np.isnan(half) or (low == mean - half and high == mean + half):
        return rounded(mean, half)
    return f"{mean:.2f} (from {low:.2f} to {high:.2f})".replace("-", "−")


def interval_words(measure="aari", label="AARI"):
    "What the columns from and to are."
    cut_off = f", cut off at {ENDS[measure][1]:g}, the most that {label} can be" if measure in ENDS else ""
    return f"from, to: the {LEVEL:.0%} interval of the mean{cut_off}"
