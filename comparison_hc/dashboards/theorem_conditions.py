"""The conditions of Theorems 1 to 4 of Ghoshdastidar et al. (2019) as inequalities, and how nearly each is met."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import floor, inf, isinf, log, log10, sqrt

from ..core.query_budget import active_budget
from ..reproduce.simulation import GROUP_SIZES
from ..theory.f19_levels import active_gap, passive_gap
from ..theory.f19_theorem2 import C_THEOREM_2
from ..theory.f19_theorem3 import C_THEOREM_3
from ..theory.f19_theorem4 import C_THEOREM_4
from .planted import SNR_LIVE

ETA = 0.5
# q = (20/N) ln(N/η) at L = 1, δ/σ = 3/2: `theory.f19_theorem2.active_constant`
C_2_ESTIMATED = 20 * active_gap(1.5, 1, ETA) ** 4 / 4
C_3_ESTIMATED = 0.06  # `theory.f19_theorem3.passive_constant`
C_4_ESTIMATED = 0.05  # `theory.f19_theorem4.small_constant_suffices`


@dataclass(frozen=True)
class Hypothesis:
    "One inequality that a theorem requires, at one setting."

    theorem: str  # its label
    about: str  # what it guarantees, for which methods
    condition: str  # the inequality in letters
    here: float  # its left side
    needs: float  # its right side; with the proof's constant, where there is one
    estimated: object = None  # its right side with the constant of our simulations; None where there is no constant
    at_most: bool = False  # whether the left side must be smaller

    @property
    def holds(self):
        "Whether the inequality is true."
        return self.here <= self.needs if self.at_most else self.here > self.needs

    @property
    def factor(self):
        "The left side divided by the right side."
        if self.needs == 0:
            return inf if self.here > 0 else 1.0
        return self.here / self.needs


def _over(value, gap, power):
    return value / gap**power if gap**power > 0 else inf


def _group_range(size, n_pure):
    "(m, largest size) of the initial clusters; m is at most N₀/2, as Theorem 4 requires."
    size = min(size or 1, n_pure)
    smallest = n_pure % size or size
    return min(smallest, n_pure // 2), size


def hypotheses(settings):
    "The conditions of Theorems 1 to 4 of Ghoshdastidar et al. (2019) at this setting."
    s, L = settings.snr, settings.n_levels
    N, N0 = settings.n_objects, settings.n_pure
    n_answers = round(settings.p * settings.n_questions)  # on average: the sample need not be drawn for this
    active = 0.0 if isinf(s) else float(active_gap(s, L, ETA))
    passive = 0.0 if isinf(s) else float(passive_gap(s, L))

    q = active_budget(N, n_answers)[0] if n_answers else 0.0
    enough_q = 3 / N * log(2 / ETA)
    q_needed = [max(enough_q, _over(C * 4**L / N * log(N / ETA), active, 4)) for C in (C_THEOREM_2, C_2_ESTIMATED)]
    enough_p = 2 / N**4 * log(2 / ETA)
    root = sqrt(log(N / ETA) / N)
    p_needed = [max(enough_p, _over(C * 2**L * root, passive, 2)) for C in (C_THEOREM_3, C_3_ESTIMATED)]

    found = [
        Hypothesis("Theorem 1", "SL and CL find the tree", "δ/σ ≥ 4√ln(N/η)", s, 4 * sqrt(log(N / ETA))),
        Hypothesis("Theorem 1, converse", "SL fails (N₀ large)", "δ/σ ≤ ¼√ln N₀", s, sqrt(log(N0)) / 4, at_most=True),
        Hypothesis("Theorem 2", "4K–AL–act finds the tree", "N₀ > 4√N/Δ", N0, _over(4 * sqrt(N), active, 1)),
        Hypothesis("Theorem 2", "", "q > C·4^L/(NΔ⁴)·ln(N/η)", q, *q_needed),
        Hypothesis("Theorem 3", "4K–AL finds the tree", "N₀ > 8√N/Δ", N0, _over(8 * sqrt(N), passive, 1)),
        Hypothesis("Theorem 3", "", "p > C·2^L/Δ²·√(ln(N/η)/N)", settings.p, *p_needed),
    ]
    return found + [_theorem_4(settings, method, passive) for method in GROUP_SIZES]


def _theorem_4(settings, method, gap):
    "Theorem 4 for one choice of initial clusters."
    m, largest = _group_range(GROUP_SIZES[method], settings.n_pure)
    if m == 0 or largest > 2 * m:
        condition = "pure initial clusters of m to 2m ≤ N₀ objects"
        return Hypothesis("Theorem 4", f"{method} finds the tree", condition, m, inf)
    worst = max(log(settings.n_objects), log(1 / ETA) / m)
    needed = [_over(C * worst / m, gap, 2) for C in (C_THEOREM_4, C_4_ESTIMATED)]
    about = f"{method} finds the tree, m = {m}"
    return Hypothesis("Theorem 4", about, "p > C/(mΔ²)·max{ln N, ln(1/η)/m}", settings.p, *needed)


@lru_cache(maxsize=256)
def signal_thresholds(settings):
    "The smallest signal at which each theorem applies; for Theorems 2 to 4, with the small constants."
    N, N0 = settings.n_objects, settings.n_pure
    found = {"SL and CL guaranteed": 4 * sqrt(log(N / ETA)), "SL fails": sqrt(log(N0)) / 4 if N0 > 1 else None}
    grid = [value for value in SNR_LIVE if 0 < value < inf]
    for snr in grid[::-1]:  # downwards: the smallest stays
        met = {}
        for h in hypotheses(replace(settings, snr=snr)):
            if h.theorem in ("Theorem 2", "Theorem 3", "Theorem 4"):
                name = h.theorem if h.theorem != "Theorem 4" else f"{h.theorem}, {h.about.split()[0]}"
                met[name] = met.get(name, True) and h.here > (h.needs if h.estimated is None else h.estimated)
        found.update({name: snr for name, holds in met.items() if holds})
    return found


def share_thresholds(settings):
    "The smallest p at which Theorems 3 and 4 apply with the small constants."
    found, about = {}, ""
    for h in hypotheses(settings):
        about = h.about or about
        if h.estimated is not None and h.condition.startswith("p >"):
            found[f"{h.theorem}, {about.split()[0]}"] = h.estimated
    return found


def promise_words(settings):
    "The consequences of the bounds at this setting, in sentences."
    found = hypotheses(settings)
    held = [f"{h.theorem} ({h.about or h.condition})" for h in found if h.holds]
    later = {h.about.split()[0]: h for h in found if h.theorem == "Theorem 4"}
    name, best = min(later.items(), key=lambda each: each[1].estimated or inf)
    one = f"<b>Theorem 1</b> guarantees that SL and CL find the tree if δ/σ is at least {in_digits(found[0].needs)}"
    if found[1].needs:
        one += f", and that SL fails if δ/σ is at most {in_digits(found[1].needs)} and N₀ is large"
    most = in_digits(best.estimated if best.estimated is not None else inf)
    rest = (
        f"<b>Theorems 2 to 4</b> have large constants. Theorem 4 requires p > {in_digits(best.needs)} for {name} with"
        f" the constant of the proof, and p > {most} even with the smallest constant that sufficed in our simulations."
        if best.estimated is None or best.estimated > settings.p
        else f"<b>Theorem 4</b> applies to {name} if p > {most}, with the smallest constant that sufficed in our"
        " simulations."
    )
    use = (
        "The theorems show how the required p depends on the size: it is proportional to √(ln N/N) for 4K–AL, and to"
        " ln N/m for 4–AL from pure clusters of m objects. They help to compare methods, but not to plan a study."
    )
    holds = f"Conditions that hold here: {', '.join(held)}." if held else "None of the conditions holds here."
    return f"<p>{one}.</p><p>{rest} {use}</p><p>{holds}</p>"


COLUMNS = ("", "guarantees that", "if", "here", "required", "verdict", "required with the small C")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def in_digits(value):
    "Three significant digits, or two and a power of ten for very small and very large numbers."
    if isinf(value):
        return "∞"
    if value and not 1e-3 <= abs(value) < 1e5:
        power = floor(log10(abs(value)))
        return f"{value / 10.0**power:.1f}·10{str(power).translate(RAISED)}"
    return f"{float(f'{value:.3g}'):,.12g}"


def verdict(hypothesis):
    "Whether a condition holds, and by which factor."
    h = hypothesis
    mark = "✓" if h.holds else "✗"
    if isinf(h.needs):
        return "✗ cannot hold here"
    if h.needs == 0 or isinf(h.here):
        return f"{mark} {'holds' if h.holds else 'does not hold'}"
    share = in_digits(h.factor)
    if h.at_most:
        return f"✓ holds: {share} of the limit" if h.holds else f"✗ {share} times the limit"
    return f"✓ holds: {share} times the requirement" if h.holds else f"✗ {share} times the requirement"


def promise_rows(found):
    "The table of the page. A theorem's second condition does not repeat its name."
    rows = []
    for h in found:
        small = ""
        if h.estimated is not None:
            small = f"{in_digits(h.estimated)} {'✓' if h.here > h.estimated else '✗'}"
        name = h.theorem if h.about else ""
        rows.append([name, h.about or "and", h.condition, in_digits(h.here), in_digits(h.needs), verdict(h), small])
    return rows
