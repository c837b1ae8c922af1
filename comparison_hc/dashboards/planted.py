"""Move δ/σ or p of the model of Ghoshdastidar et al. (2019), and see which methods find the tree."""

from dataclasses import dataclass
from functools import cached_property
from math import inf, isinf

from ..comparisons import n_quadruplet_questions
from ..core.validation import check_integer, check_number, integer_from, is_real, number_from, one_of, require
from ..hierarchical.planted import planted_hierarchy
from ..metrics import average_ari
from ..oracles import sample_quadruplets
from ..reproduce.f19 import ACTIVE, planted_methods
from ..reproduce.simulation import GROUP_SIZES, MU, SIGMA, active_tree, passive_tree, pure_groups
from .framework import SEED_HELP, Draw, Settings, as_settings, no_step, setting

MOST_OBJECTS = 480
MOST_ANSWERS = 45_000_000
P_LIVE = [float(f"{lead}e{power}") for power in range(-6, 0) for lead in (1, 1.5, 2, 3, 5, 7)] + [1.0]
P_STORED = [0.001, 0.003, 0.01, 0.03, 0.1, 1.0]
SNR_LIVE = [round(0.1 * step, 1) for step in range(31)] + [3.5, 4, 5, 6, 8, 10, 12, inf]
SNR_STORED = [round(0.2 * step, 1) for step in range(1, 11)]
N_LIVE = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30]
AGAINST = ("δ/σ", "p")  # horizontal axes of the chart
AGAINST_HELP = "horizontal axis of the chart of AARI"
P_HELP = "probability that a comparison is seen"
L_HELP = "number of levels; there are 2 to the power L pure clusters"
SNR_HELP = "signal-to-noise ratio: decrease of the mean similarity per level, in standard deviations of the noise"


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
    """The controls of the dashboard `planted`.

    Examples
    --------
    >>> from comparison_hc.dashboards import PlantedSettings
    >>> PlantedSettings(n_pure=4, n_levels=3).n_objects
    32
    """

    snr: float = setting(1.0, check_snr, "δ/σ", SNR_HELP, SNR_LIVE, SNR_STORED, text=snr_text, unit="signal to noise")
    p: float = setting(0.1, number_from(0, 1, True), "p", P_HELP, P_LIVE, P_STORED, unit="share seen")
    n_pure: int = setting(
        8, check_integer, "N₀", "objects in a pure cluster", N_LIVE, [4, 8], unit="objects per cluster"
    )
    n_levels: int = setting(3, integer_from(1, 8), "L", L_HELP, [1, 2, 3, 4], [2, 3], unit="levels")
    seed: int = setting(0, integer_from(0), "seed", SEED_HELP, range(20), range(2), unit="draw number")
    methods: tuple = setting(
        ("SL", "CL", "4K–AL, self-pairs", "4–AL", "4–AL–I3"),
        check_methods,
        help="names of the methods that run",
        name="methods",
    )
    drawn: str = setting("4–AL", one_of(planted_methods), help="method whose tree is drawn", name="drawn")
    against: str = setting("δ/σ", one_of(AGAINST), "curve along", AGAINST_HELP, AGAINST, AGAINST)

    def _check_together(self):
        "No more objects than this page computes live."
        rule = f"at most {MOST_OBJECTS} on this page; take a smaller N₀ or L"
        require(self.n_objects <= MOST_OBJECTS, "N = N₀ · 2^L", rule, self.n_objects)

    @property
    def n_objects(self) -> int:
        "N = N₀ · 2^L."
        return self.n_pure << self.n_levels

    @property
    def n_questions(self) -> int:
        "How many quadruplet questions there are."
        return n_quadruplet_questions(self.n_objects)


TWO_OBJECTS = "Two objects form only one pair, so there is no comparison."
TOO_MANY = (
    "p = {p:g} gives about {expected:,.0f} answers here, and this dashboard lists at most {most:,}."
    " Choose a smaller p or N₀, or p = 1, which needs no list."
)
NONE_SEEN = (
    "No comparison was seen. With p = {p:g}, {expected:.2g} of {all:,} are seen on average. Choose a larger p or N₀."
)


NO_NOISE = (
    "σ = 0 means that there is no noise. All pairs at the same level are equally similar, so a comparison of two such"
    " pairs has no answer. It is missing from the sample, and an oracle answers 'not more similar'."
)
NO_SIGNAL = (
    "δ = 0 means that there is no signal. Objects of all clusters are equally similar on average,"
    " so every method finds its clusters by chance, and AARI is 0 on average."
)
SINGLE = (
    "N₀ = 1 means that every pure cluster is a single object. There is nothing to average,"
    " and initial clusters of 3 or 5 are single objects as well."
)
SMALL = "N₀ = {} means that pure clusters have fewer than 3 objects, so they are themselves the initial clusters."


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


# Similarities depend on all settings but these; so a new setting may be computed in vain, but is never ignored.
_MODEL = tuple({*PlantedSettings().message()} - {"p", "methods", "drawn", "against"})


class PlantedInstance(Draw):
    "One draw of a planted hierarchy, and the trees of its methods."

    depends = dict(model=_MODEL, asked=_MODEL, answers=(*_MODEL, "p"), given=(*_MODEL, "p"))
    streams = ("noise", "sample", "groups of 3", "groups of 5", "SL", "CL", "4K–AL–act")

    @cached_property
    def model(self):
        "`PlantedHierarchy`."
        s = self.settings
        delta, sigma = (SIGMA, 0.0) if isinf(s.snr) else (SIGMA * s.snr, SIGMA)
        return planted_hierarchy(s.n_pure, s.n_levels, MU, delta, sigma, self.stream("noise"))

    @cached_property
    def answers(self):
        "The sample: `Quadruplets`, or None at p = 1, where nothing needs to be listed."
        if self.settings.p == 1:
            return None
        return sample_quadruplets(self.model.similarity, self.settings.p, self.stream("sample"))

    @property
    def n_answers(self):
        "How many answers the passive methods are given."
        return self.settings.n_questions if self.answers is None else len(self.answers)

    @cached_property
    def asked(self):
        "{method: (tree, comparisons)} of methods that do not depend on the sample."
        return {}

    @cached_property
    def given(self):
        "{method: (tree, comparisons)} of all others."
        return {}

    def tree(self, method, step=no_step):
        "The tree of a method on this draw, and its number of comparisons."
        trees = self.asked if method in ("SL", "CL") else self.given
        if method not in trees:
            trees[method] = self._make(method, step)
        return trees[method]

    def _make(self, method, step):
        w = self.model.similarity
        if method in ACTIVE:
            rng, watched = self.stream(method), lambda asked: step(f"{method}: {asked:,} questions")
            return active_tree(method, w, None if method in ("SL", "CL") else self.n_answers, rng, watched)
        size = GROUP_SIZES.get(method)
        groups = size and pure_groups(self.model.labels, size, self.stream(f"groups of {size}"))
        watched = lambda done, total: step(method, done, total)  # noqa: E731
        return passive_tree(method, w, self.answers, groups, watched), self.n_answers


def why_not(instance, method):
    "The reason why a method has no result here, or None. Draws the sample if the reason depends on it."
    s = instance.settings
    expected = s.p * s.n_questions
    if s.n_objects < 3:
        return TWO_OBJECTS
    if method in ("SL", "CL"):
        return None
    if s.p < 1 and expected > MOST_ANSWERS:
        return TOO_MANY.format(p=s.p, expected=expected, most=MOST_ANSWERS)
    if instance.n_answers == 0:
        return NONE_SEEN.format(p=s.p, expected=expected, all=s.n_questions)
    return None


def method_result(instance, method, step=no_step):
    "The result of one method at a setting."
    why = why_not(instance, method)
    if why:
        return dict(aari=None, comparisons=None, why=why, tree=None)
    tree, comparisons = instance.tree(method, step)
    aari = average_ari(instance.model.levels, tree)
    return dict(aari=round(aari, 6), comparisons=int(comparisons), why=None, tree=tree)


def planted_data(settings: PlantedSettings) -> dict:
    """Compute the results that the dashboard `planted` shows at one setting.

    Parameters
    ----------
    settings : PlantedSettings
        The values of the controls.

    Returns
    -------
    dict
        Entries aari, comparisons, tree and why (the reason if there is no tree), each by method; notes; instance.

    Examples
    --------
    >>> from comparison_hc.dashboards import PlantedSettings, planted_data
    >>> planted_data(PlantedSettings(n_pure=4, snr=4.0, methods=["4–AL"]))["aari"]
    {'4–AL': 0.874867}
    """
    as_settings(settings, PlantedSettings)
    instance = PlantedInstance(settings)
    found = {method: method_result(instance, method) for method in settings.methods}
    parts = {part: {name: each[part] for name, each in found.items()} for part in ("aari", "comparisons", "tree")}
    why = {name: each["why"] for name, each in found.items() if each["why"]}
    return dict(parts, why=why, notes=setting_notes(settings), instance=instance)


def tree_of_objects(tree):
    "A dendrogram as rows over single objects: an initial cluster is a row, joined before the first merge."
    clusters = [list(cluster) for cluster in tree.initial_clusters]
    n_objects = sum(map(len, clusters))
    groups = [cluster for cluster in clusters if len(cluster) > 1]
    node = {}
    for leaf, cluster in enumerate(clusters):
        node[leaf] = cluster[0] if len(cluster) == 1 else n_objects + groups.index(cluster)
    rows = list(groups)
    for t, (a, b) in enumerate(tree.children.tolist()):
        rows.append([node[a], node[b]])
        node[len(clusters) + t] = n_objects + len(rows) - 1
    left = [len(clusters)] * len(groups) + [len(clusters) - 1 - t for t in range(len(clusters) - 1)]
    return rows, left
