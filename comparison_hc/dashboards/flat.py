"""Move ε, δ or the number of comparisons of Perrot et al. (2020), and see when clusters are found and proved."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt

from ..comparisons import n_quadruplet_questions, n_triplet_questions
from ..core.compat import bincount
from ..core.parallel import limited_threads
from ..core.validation import check_flag, check_integer, integer_from, number_from, one_of
from ..flat.planted import planted_partition, sample_comparisons
from ..flat.sdp import certify
from ..flat.similarity import AddS, mulk3
from ..flat.spur_search import spur
from ..metrics import adjusted_rand_index
from ..reproduce.simulation import FAMILIES as N20_FAMILIES
from ..reproduce.simulation import SIMILARITIES as N20_SIMILARITIES
from ..reproduce.simulation import equal_sizes
from .framework import SEED_HELP, Draw, Settings, as_settings, no_step, setting

MOST_OBJECTS = 400
MOST_ANSWERS = 5_000_000
FAMILIES = {name: pair for name, pair in N20_FAMILIES.items() if not name.endswith("as published")}
SIMILARITIES = {name: N20_SIMILARITIES[name][0] for name in ("AddS-3", "AddS-4", "MulK-3")}  # what they are made of
N_LIVE = [60, 80, 100, 120, 150, 200, 250, 300, 350, 400]
K_LIVE = [*range(1, 11), 12, 15, 20, 30, 50, 100, 200, 400]
A_LIVE = [-6, -4, -2, 0, 0.5, 1, 1.5, *(round(2 + 0.1 * step, 1) for step in range(46))]
STEPS = [round(0.05 * step, 2) for step in range(1, 21)]
AGAINST = ("ε", "a")  # horizontal axes of the chart
EPSILON_HELP = "an answer is right with probability (1 + ε)/2"
DELTA_HELP = "a pair inside a cluster is more similar than a pair between clusters with probability (1 + δ)/2"
A_HELP = "exponent: n(ln n)ᵃ comparisons are asked"
AGAINST_HELP = "horizontal axis of the chart of ARI"
FAMILY_HELP = "distributions of the similarities inside and between clusters"
EVERY_K_HELP = "whether SDP-k is also solved for those k in SPUR's range for which a proof makes it unnecessary"


def if_needed(value):
    "The switch in words."
    return "always" if value else "if needed"


@dataclass(frozen=True)
class FlatSettings(Settings):
    """The controls of the page `flat`.

    Examples
    --------
    >>> from comparison_hc.dashboards import FlatSettings
    >>> FlatSettings(n=100, k=3).sizes
    (34, 33, 33)
    """

    n: int = setting(100, integer_from(3, MOST_OBJECTS), "n", "objects", N_LIVE, unit="objects")
    k: int = setting(4, check_integer, "k", "planted clusters of nearly equal sizes", K_LIVE, unit="clusters")
    delta: float = setting(0.7, number_from(0, 1, True, True), "δ", DELTA_HELP, STEPS[:-1], unit="clearness")
    epsilon: float = setting(0.75, number_from(0, 1, True), "ε", EPSILON_HELP, [0.01, *STEPS], unit="rightness")
    a: float = setting(3.0, number_from(-20, 20), "a", A_HELP, A_LIVE, unit="how many answers")
    family: str = setting("normal", one_of(FAMILIES), "distributions", FAMILY_HELP, FAMILIES, name="family")
    similarity: str = setting(
        "AddS-3", one_of(SIMILARITIES), "similarity", "similarity computed from the answers", SIMILARITIES
    )
    seed: int = setting(0, integer_from(0), "seed", SEED_HELP, range(20), unit="draw number")
    every_k: bool = setting(
        False, check_flag, "objective of other k", EVERY_K_HELP, [False, True], name="every_k", text=if_needed
    )
    against: str = setting("ε", one_of(AGAINST), "curve along", AGAINST_HELP, AGAINST)

    def _check_together(self):
        "No more clusters than objects."
        check_integer(self.k, "k", 1, self.n)

    @property
    def sizes(self) -> tuple[int, ...]:
        "Objects in each planted cluster."
        return tuple(equal_sizes(self.n, self.k))

    @property
    def kind(self) -> str:
        "Triplets or quadruplets: what the similarity is made of."
        return SIMILARITIES[self.similarity]

    @property
    def n_questions(self) -> int:
        "How many different questions there are."
        return (n_triplet_questions if self.kind == "triplets" else n_quadruplet_questions)(self.n)

    @property
    def n_answers(self) -> int:
        "How many answers are drawn, before the limit of all questions."
        return round(self.n * log(self.n) ** self.a)


def why_not(settings):
    "Why nothing can be computed here."
    s = settings
    if s.n_answers == 0:
        return f"No comparison is asked: n(ln n)ᵃ is {s.n * log(s.n) ** s.a:.2g} here. Take a larger a."
    asked = f"n(ln n)ᵃ = {s.n_answers:,}"
    if s.n_answers > s.n_questions:
        more = ", or AddS-4: there are more quadruplets." if s.kind == "triplets" else "."
        there = f"there are only {s.n_questions:,} about {s.n} objects"
        return f"{asked} {s.kind} are asked, and {there}. Take a smaller a or a larger n{more}"
    if s.n_answers > MOST_ANSWERS:
        return f"{asked} comparisons are asked, and this page draws at most {MOST_ANSWERS:,}. Take a smaller a or n."
    return None


ONE_CLUSTER = (
    "k = 1 means that every pair is inside the same cluster, so there is nothing to find."
    " SPUR tries at least two clusters, so its result must be wrong."
)
SINGLE = "k > n/2: {}. Few pairs or none are inside a cluster, so the answers do not distinguish the clusters."
MANY = (
    "k = {k} is above √(n/ln n) = {bound:.1f}. Theorem 1 of Perrot et al. (2020) does not apply to clusters this small"
    " (Remark 3)."
)
APART = (
    "The answers are not connected: no chain of compared pairs joins the {groups:,} groups, of which {alone:,} are"
    " single objects in no answer. The result of SPUR across these groups does not depend on any answer."
)


def setting_notes(settings, groups):
    "Notes for the reader about an extreme setting."
    s = settings
    notes = []
    bound = sqrt(s.n / log(s.n))
    single = sum(size == 1 for size in s.sizes)
    if s.k == 1:
        notes.append(ONE_CLUSTER)
    elif single:
        which = "every cluster is" if single == s.k else f"{single} of the {s.k} clusters are"
        notes.append(SINGLE.format(f"{which} a single object"))
    elif s.k > bound:
        notes.append(MANY.format(k=s.k, bound=bound))
    if len(groups) > 1:
        notes.append(APART.format(groups=len(groups), alone=sum(size == 1 for size in groups)))
    return notes


def search(instance, step=no_step):
    "SPUR on the similarity of one setting, and its warnings."
    s = instance.settings

    def watched(text, done, most):
        step(f"{text}, iteration {done}")

    with warnings.catch_warnings(record=True) as said, limited_threads():
        warnings.simplefilter("always")
        scaled = s.similarity == "MulK-3"
        rng = instance.stream("k-means")
        result = spur(instance.S, s.n_answers, all_k=s.every_k, normalised=scaled, rng=rng, progress=watched)
    sentences = [f"{warning.message}." for warning in said if issubclass(warning.category, UserWarning)]
    return result, list(dict.fromkeys(sentences))


# Similarities depend on all settings but these; so a new setting may be computed in vain, but is never ignored.
_ALL = tuple({*FlatSettings().message()} - {"against"})
_MODEL = tuple({*_ALL} - {"epsilon", "a", "similarity", "every_k"})


class FlatInstance(Draw):
    "One draw of a planted partition, of comparisons, and of their errors."

    depends = dict(model=_MODEL, sample=(*_MODEL, "kind", "a"), found=_ALL)
    streams = ("similarities", "sample", "errors", "k-means")

    @cached_property
    def model(self):
        "`PlantedPartition`."
        s = self.settings
        return planted_partition(s.sizes, *FAMILIES[s.family](s.delta), self.stream("similarities"))

    @cached_property
    def sample(self):
        "Right answers: `Triplets` or `Quadruplets`."
        s = self.settings
        return sample_comparisons(self.model, s.kind, s.n_answers, 1.0, self.stream("sample"))

    @cached_property
    def answers(self):
        "The same, some reversed."
        return self.sample.flip((1 - self.settings.epsilon) / 2, self.stream("errors"))

    @cached_property
    def sums(self):
        "`AddS` of the answers, which also knows who is linked with whom."
        return AddS(self.settings.n, self.settings.kind).partial_fit(self.answers)

    @cached_property
    def S(self):
        "(n, n) similarity from the answers."
        return mulk3(self.answers) if self.settings.similarity == "MulK-3" else self.sums.similarity()

    def notes(self):
        "What a reader should know about an extreme setting: a list of sentences."
        return setting_notes(self.settings, bincount(self.sums.components()))


def flat_data(settings: FlatSettings) -> dict:
    """What the page shows at one setting, for Python.

    Parameters
    ----------
    settings : FlatSettings
        The values of the controls.

    Returns
    -------
    dict
        k_hat, ari, certified (low, high) or None, objective by k, notes; why, if nothing can be computed; and more.

    Examples
    --------
    >>> from comparison_hc.dashboards import FlatSettings, flat_data
    >>> flat_data(FlatSettings(n=60, k=2, epsilon=1.0))["k_hat"]
    2
    """
    as_settings(settings, FlatSettings)
    why = why_not(settings)
    return dict(why=why) if why else searched(FlatInstance(settings))


def searched(instance, step=no_step):
    "SPUR's result and what it is worth; the search itself is made once."
    if "found" not in vars(instance):
        vars(instance)["found"] = search(instance, step)
    result, said = vars(instance)["found"]
    planted = instance.model.labels
    ari = adjusted_rand_index(planted, result.labels)
    proof = result.certificate
    truth = proof if proof is not None and ari == 1 else certify(instance.S, planted)
    return dict(
        k_hat=result.n_clusters,
        ari=ari,
        certified=None if proof is None else (proof.lam_low, proof.lam_high),
        planted=(truth.lam_low, truth.lam_high) if truth.holds else None,  # where the planted clusters are proved
        limit=truth.lam_limit,  # above it they are no optimum
        objective={each.k: each.objective for each in result.steps},
        notes=[*instance.notes(), *said],
        result=result,
        instance=instance,
    )
