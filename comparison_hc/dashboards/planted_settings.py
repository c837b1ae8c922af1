"""What the sliders of the page `planted` may say, the sentences where there is no answer, and how a tree is made."""

from dataclasses import dataclass
from math import inf, isinf

from ..comparisons import n_quadruplet_questions
from ..core.validation import check_integer, check_number, integer_from, is_real, number_from, one_of, require
from .framework import SEED_HELP, Settings, setting
from ..reproduce.f19 import planted_methods
from ..reproduce.simulation import GROUP_SIZES

MOST_OBJECTS = 480
MOST_ANSWERS = 45_000_000
P_LIVE = [float(f"{lead}e{power}") for power in range(-6, 0) for lead in (1, 1.5, 2, 3, 5, 7)] + [1.0]
P_STORED = [0.001, 0.003, 0.01, 0.03, 0.1, 1.0]
SNR_LIVE = [round(0.1 * step, 1) for step in range(31)] + [3.5, 4, 5, 6, 8, 10, 12, inf]
SNR_STORED = [round(0.2 * step, 1) for step in range(1, 11)]
N_LIVE = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30]
AGAINST = {"δ/σ": "snr", "p": "p"}  # what a curve can be drawn over, and the setting that it is
AGAINST_HELP = "what the curve of AARI is drawn over"
P_HELP = "probability of every comparison to be seen"
L_HELP = "levels; there are 2 to the L pure clusters"
SNR_HELP = "signal to noise: what two objects lose in similarity at every level, in standard deviations"


def check_snr(value, name):
    "At least 0; infinity for σ = 0."
    return value if is_real(value) and value == inf else check_number(value, name, 0)


def check_methods(value, name):
    "Names of methods, in the order of the figure."
    require(isinstance(value, (tuple, list)), name, "a list of names", value)
    for each in value:
        require(each in planted_methods, name, f"some of {', '.join(planted_methods)}", each)
    return tuple(each for each in planted_methods if each in value)


def snr_text(value):
    "δ/σ as the page writes it."
    return "∞ (σ = 0)" if value == inf else f"{value:g}"


@dataclass(frozen=True)
class PlantedSettings(Settings):
    "What the sliders and boxes say."

    snr: float = setting(1.0, check_snr, "δ/σ", SNR_HELP, SNR_LIVE, SNR_STORED, text=snr_text, unit="signal to noise")
    p: float = setting(0.1, number_from(0, 1, True), "p", P_HELP, P_LIVE, P_STORED, unit="share seen")
    n_pure: int = setting(8, check_integer, "N₀", "objects in a pure cluster", N_LIVE, [4, 8], unit="objects a cluster")
    n_levels: int = setting(3, integer_from(1, 8), "L", L_HELP, [1, 2, 3, 4], [2, 3], unit="levels")
    seed: int = setting(0, integer_from(0), "seed", SEED_HELP, range(20), range(2), unit="which draw")
    # names of those that run
    methods: tuple = setting(("SL", "CL", "4K–AL, self-pairs", "4–AL", "4–AL–I3"), check_methods, name="methods")
    drawn: str = setting("4–AL", one_of(planted_methods), name="drawn")  # whose tree is drawn
    against: str = setting("δ/σ", one_of(AGAINST), "curve along", AGAINST_HELP, AGAINST, AGAINST, as_list=True)

    def check_together(self):
        "No more objects than this page computes live."
        rule = f"at most {MOST_OBJECTS} on this page; take a smaller N₀ or L"
        require(self.n_objects <= MOST_OBJECTS, "N = N₀ · 2^L", rule, self.n_objects)

    @property
    def n_objects(self):
        "N = N₀ · 2^L."
        return self.n_pure << self.n_levels

    @property
    def n_questions(self):
        "How many quadruplet questions there are."
        return n_quadruplet_questions(self.n_objects)


TWO_OBJECTS = "Two objects make one pair, and one pair cannot be compared with anything."
TOO_MANY = (
    "p = {p:g} makes about {expected:,.0f} answers here, and this page lists at most {most:,}."
    " Take a smaller p or N₀, or p = 1, which needs no list."
)
NONE_SEEN = "No comparison was seen: p = {p:g} makes {expected:.2g} of {all:,} on average. Take a larger p or N₀."


NO_NOISE = (
    "σ = 0: no noise at all. All pairs of a level are equally similar, and two equal pairs have no answer:"
    " it is missing from the sample, and an oracle that is asked says 'not more'."
)
NO_SIGNAL = (
    "δ = 0: no signal at all. Objects of all clusters are equally similar on average;"
    " what a method finds here is chance, and AARI is 0 on average."
)
SINGLE = (
    "N₀ = 1: every pure cluster is a single object, so there is nothing to average,"
    " and initial clusters of 3 or 5 are single objects as well."
)
SMALL = "N₀ = {}: pure clusters are smaller than 3, so initial clusters are the pure clusters themselves."


def setting_notes(settings):
    "What a reader should know about an extreme setting."
    s = settings
    uses_groups = any(GROUP_SIZES.get(name) for name in s.methods)
    notes = {
        NO_NOISE: isinf(s.snr),
        NO_SIGNAL: s.snr == 0,
        SINGLE: s.n_pure == 1,
        SMALL.format(s.n_pure): s.n_pure == 2 and uses_groups,
    }
    return [note for note, holds in notes.items() if holds]
