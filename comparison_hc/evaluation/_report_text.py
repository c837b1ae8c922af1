"""Sentences of a report for a methods section, and the papers that it cites."""

import numpy as np

from ..core.compat import bincount
from ..methods import methods
from ..metrics import agreement, noise_ceiling
from ._candidates import SUFFIX
from ._splits import response_kind

REFERENCES = {
    "F19": "Ghoshdastidar, D., Perrot, M., & von Luxburg, U. (2019). Foundations of Comparison-Based Hierarchical "
    "Clustering. Advances in Neural Information Processing Systems, 32.",
    "N20": "Perrot, M., Esser, P. M., & Ghoshdastidar, D. (2020). Near-Optimal Comparison Based Clustering. Advances "
    "in Neural Information Processing Systems, 33.",
    "L20": "Balcan, M.-F., Dick, T., & Lang, M. (2020). Learning to Link. International Conference on Learning "
    "Representations.",
    "ST77": "Sattath, S., & Tversky, A. (1977). Additive similarity trees. Psychometrika, 42, 319–345.",
    "MPG23": "Mandal, A., Perrot, M., & Ghoshdastidar, D. (2023). A Revenue Function for Comparison-Based Hierarchical "
    "Clustering. Transactions on Machine Learning Research.",
    "KL17": "Kleindessner, M., & von Luxburg, U. (2017). Kernel Functions Based on Triplet Comparisons. Advances in "
    "Neural Information Processing Systems, 30.",
    "VW12": "van der Maaten, L., & Weinberger, K. (2012). Stochastic Triplet Embedding. IEEE International Workshop on "
    "Machine Learning for Signal Processing.",
    "JJN16": "Jain, L., Jamieson, K., & Nowak, R. (2016). Finite Sample Prediction and Recovery Bounds for Ordinal "
    "Embedding. Advances in Neural Information Processing Systems, 29.",
    "F85": "Felsenstein, J. (1985). Confidence limits on phylogenies: an approach using the bootstrap. Evolution, 39.",
    "L18": "Lemoine, F., et al. (2018). Renewing Felsenstein's phylogenetic bootstrap in the era of big data. Nature, "
    "556.",
    "H07": "Hennig, C. (2007). Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis, "
    "52.",
    "TL14": "Terada, Y., & von Luxburg, U. (2014). Local Ordinal Embedding. International Conference on Machine "
    "Learning.",
}
_OF_THREE = {"central": "the most central", "odd-one-out": "the odd one out"}
_EMBEDDINGS = {"VW12": "t-STE", "JJN16": "FORTE", "TL14": "soft ordinal embedding"}
_SHORT = {
    "F19": "Ghoshdastidar, Perrot and von Luxburg (2019)",
    "N20": "Perrot, Esser and Ghoshdastidar (2020)",
    "L20": "Balcan, Dick and Lang (2020)",
    "ST77": "Sattath and Tversky (1977)",
    "MPG23": "Mandal, Perrot and Ghoshdastidar (2023)",
    "KL17": "Kleindessner and von Luxburg (2017)",
    "VW12": "van der Maaten and Weinberger (2012)",
    "JJN16": "Jain, Jamieson and Nowak (2016)",
    "TL14": "Terada and von Luxburg (2014)",
}


def cited_papers(result):
    "Keys of the papers whose method a result was computed with, and of its support."
    cited = _method_papers(result)
    if getattr(result, "resampled", None) is not None:
        cited += {"transfer": ["L18"], "exact": ["F85"], "jaccard": ["H07"]}[result.support_kind]
        cited += ["F85"] * (result.branch_support is not None and "F85" not in cited)
    return cited


def _method_papers(result):
    "Keys of the papers whose method a result was computed with."
    if result.provenance and result.provenance.get("references"):
        return [key for key in result.provenance["references"] if key in REFERENCES]
    if not hasattr(result, "dendrogram"):
        return ["N20"] + ["KL17"] * result.method.startswith("MulK")
    method = _method_of(result)
    return list(method.papers) if method else ["F19"] if "–AL" in result.method else []


def _method_of(result):
    "The method of a hierarchy, by its title or the short one before the first comma; or None."
    named = result.method.split(", ")[0].removesuffix(SUFFIX)
    for method in methods.values():
        if method.title in result.method or method.title.rsplit(", ", 1)[-1] == named:
            return method
    return None


def methods_parts(result):
    "The sentences before the one about the flat clusters, that one, and those behind it."
    before, cut, after = [_what_was_built(result), *_how_it_was_built(result)], [], []
    is_tree, comparisons = hasattr(result, "dendrogram"), result.comparisons
    if is_tree and comparisons is not None:
        found = agreement(result.dendrogram, comparisons.without_weights())
        counts = (found.agree, found.disagree, found.undecided)
        agree, against, undecided = (f"{100 * n / found.total:.1f}%" if found.total else "none" for n in counts)
        text = f"Of the comparisons it was built from, the hierarchy agrees with {agree}, contradicts {against} "
        text += f"and leaves {undecided} open"
        if comparisons.kind == "triplets" and found.total:
            most = noise_ceiling(comparisons.without_weights(), undecided=0)
            text += f"; no hierarchy agrees with more than {most:.1%}" if most < 0.9995 else ""
        before.append(f"{text}.")
    if is_tree and (result.n_clusters or 1) > 1:
        cut = [sentence_of_clusters(result)]
    if not is_tree:
        proof = "is proved to be the best one" if result.certificate else "is not proved to be the best one"
        after.append(f"The partition {proof} for its number of clusters.")
    if is_tree and result.support is not None and len(result.support) > 1:
        after.append(_support_in_words(result))
    if is_tree and result.branch_support is not None:
        after += _branch_support_in_words(result)
    return dict(before=before, cut=cut, after=[*after, *_held_out_in_words(result)])


MOST_REPEATED = 1_000_000  # comparisons among which repeated questions are sought in seconds


def _held_out_in_words(result):
    "How well the hierarchy's own method predicts held-out comparisons, and the best method beside it."
    compared = result.compared
    if compared is None:
        return []
    own = compared.table[compared.table.title == result.method.split(", chosen by")[0]]
    if own.empty:
        return compared.sentences()
    row = own.iloc[0]
    between = "" if np.isnan(row.low) else f" (95% interval {row.low:.3f} to {row.high:.3f})"
    text = f"Of the held-out comparisons that they decide, trees of {row.title} get {row.accuracy:.1%} right (chance "
    text += f"50%), and they leave {row.undecided:.1%} undecided; counting those as half, their agreement is "
    text += f"{row.agreement:.3f}{between}, where no tree could reach more than {row.noise_ceiling:.3f}"
    text += ", as some comparisons contradict each other." if row.noise_ceiling < 0.9995 else "."
    from .shape import repeat_ceiling  # which loads scikit-learn

    repeated = None if len(result.comparisons) > MOST_REPEATED else repeat_ceiling(result.comparisons)
    if repeated:
        text += f" By {repeated['n_questions']:,} repeated questions, noise limits the agreement of any model to "
        text += f"{repeated['agreement']:.3f} (95% interval {repeated['low']:.3f} to {repeated['high']:.3f})."
    if row.low <= 0.5:
        text += " That is not surely better than chance: these answers may hold no hierarchy."
    if row.name != compared.best:
        top = compared.table.loc[compared.best]
        text += f" The best method compared, {top.title}, has an agreement of {top.agreement:.3f}."
    return [compared.sentences()[0].replace(" answers ", " comparisons "), text]


def sentence_of_clusters(result):
    "Where the clusters of a tree come from; nothing of a single one."
    sizes = sorted(bincount(result.labels).tolist())
    if len(sizes) == 1:
        return ""
    if result.partition is not None:
        return _how_chosen(result, sizes)
    return f"For a flat grouping it was cut into {len(sizes)} clusters, {_sizes_in_words(sizes)}."


def _sizes_in_words(sizes):
    text = f"the smallest of {_objects(sizes[0])} and the largest of {_objects(sizes[-1])}"
    return f"each of {_objects(sizes[0])}" if sizes[0] == sizes[-1] else text


_KINDS = {"transfer": "transfer support (Lemoine et al., 2018)", "jaccard": "a Jaccard stability (Hennig, 2007)"}


def _support_in_words(result):
    "What came back when answers were resampled, of the kind that is shown."
    shares = np.asarray(result.support, dtype=float)[:-1]
    which = "branches" if result.additive is None else "branches of the hierarchy"
    n, text = int((shares >= 0.7).sum()), f"Of {len(shares):,} {which}, "
    if result.support_kind == "exact":
        return f"{text}{n:,} were found in at least 70% of the trees that were built from {resampled_units(result)}."
    found = result.resampled
    text += f"{n:,} had {_KINDS[result.support_kind]} of at least 70% in {len(found.trees):,} trees from "
    text += resampled_units(result)
    if result.chance is not None:
        coin = getattr(result.chance, result.support_kind)[:-1]
        text += f"; branches of a tree of answers by coin had {coin.mean():.0%} on average and {coin.max():.0%} at most"
    return text + "."


def resampled_units(result):
    "What the bootstrap drew with replacement."
    found = result.resampled
    return f"resampled {'people' if found is not None and found.by == 'people' else 'answers'}"


def _branch_support_in_words(result):
    "How many inner branches of each additive tree came back; every tree has those of leaves."
    trees = result.additive.trees_
    for number, (tree, shares) in enumerate(zip(trees, result.branch_support), 1):
        below, which = tree.splits.sum(axis=1), f"additive tree {number}" if len(trees) > 1 else "the additive tree"
        inner = np.asarray(shares)[(below > 1) & (below < len(tree.names) - 1) & (tree.lengths > 0)]
        text = (
            f"Of {len(inner):,} inner branches, of a length above 0, of {which}, {(inner >= 0.7).sum():,} were found "
        )
        yield text + f"(Felsenstein, 1985) in at least 70% of the fits to {resampled_units(result)}."


def _how_chosen(result, sizes):
    "How flat clusters were chosen by evidence."
    chosen = result.partition
    text = f"For a flat grouping, {len(sizes)} clusters, {_sizes_in_words(sizes)}, were chosen among "
    text += f"{len(chosen.table)} candidate partitions by how much of the answers they explain ({chosen.title}; "
    text += f"{chosen.table.evidence[0]:.3f} bits per answer)"
    if chosen.asked is None:
        text += "; their number is the smallest one within one standard error of the best in held-out answers"
        text += _other_numbers(chosen)
    return text + "."


def _other_numbers(chosen):
    "The range of numbers of clusters that was tried, and which others the answers support as well."
    numbers = chosen.numbers
    near = [k for k in numbers.clusters[numbers.below <= numbers.error] if k != chosen.n_clusters]
    text = f", of {numbers.clusters.min()} to {numbers.clusters.max()}"
    if near:
        text += f" ({', '.join(map(str, near))} {'is' if len(near) == 1 else 'are'} within it too)"
    row = numbers.set_index("clusters").loc[chosen.n_clusters]
    text += "; partitions into as many clusters, from different parts of the answers, have an adjusted Rand index of "
    return text + f"{row.stability:.2f} with each other"


def _objects(n):
    return f"{n:,} object{'s' * (n != 1)}"


def _what_was_built(result):
    comparisons, about = result.comparisons, f"{len(result.names):,} objects"
    if comparisons is not None:
        respondents = comparisons.respondents
        people = "" if respondents is None else f" by {len(set(respondents.tolist())):,} people"
        kind = comparisons.kind + _two_each(comparisons)
        about = f"{len(comparisons):,} ordinal comparisons ({kind}){people} about {about}"
    is_tree = hasattr(result, "dendrogram")
    built = "a hierarchy was built" if is_tree else f"{result.n_clusters} clusters were found"
    method = result.method.replace(" (", "; ").replace(")", "")  # no brackets in brackets
    version = (result.provenance or {}).get("version")
    program = f"comparison_hc{f' {version}' if version else ''}"
    return f"From {about}, {built}{f' ({method})' if method else ''} with {program}."


def _two_each(comparisons):
    "How many responses the comparisons come from, where each is two of them."
    kind = response_kind(comparisons)
    each = f", two from each of {len(comparisons) // 2:,} responses that name "
    return f"{each}{_OF_THREE[kind]} of three objects" if kind else ""


def _how_it_was_built(result):
    papers = _method_papers(result)
    if getattr(result, "additive", None) is not None:
        yield from _additive_sentences(result)
    elif papers and papers[0] in _EMBEDDINGS:
        text = f"The objects were embedded in the plane by {_EMBEDDINGS[papers[0]]}, {_SHORT[papers[0]]}, "
        yield text + "and the points were joined by average linkage."
    elif papers and papers[0] == "ST77":
        text = (
            f"An additive tree, after {_SHORT['ST77']}, was fitted to the comparisons by maximum likelihood, and the "
        )
        yield text + "objects were joined by average linkage on its path lengths."
    elif papers:
        method = _method_of(result) if hasattr(result, "dendrogram") else None
        ours = method is not None and method.source.startswith("ours")
        relation = "is a variant, for triplets, of one by" if ours else "is that of"
        yield f"The method {relation} {' and '.join(_SHORT[key] for key in papers)}."
    if result.method.split(", ")[0].endswith(SUFFIX):
        text = (
            "The tree was then refined: parts of it were moved, one at a time, to wherever the number of comparisons "
        )
        text += (
            "it agrees with, less the number it contradicts, grew most, until no single move helped (a local search "
        )
        yield text + "by comparison_hc; not a part of the method cited)."


def chance_loss(model):
    "The log loss of equal probabilities: two for a comparison, three for the odd or the most central one of three."
    return float(np.log(2 if model.kind_ == "comparisons" else 3))


def _additive_sentences(result):
    "How additive trees were fitted."
    model = result.additive
    trees = "One additive tree was" if model.n_trees_ == 1 else f"{model.n_trees_} additive trees were"
    added = "" if model.n_trees_ == 1 else ", added up over the trees"
    text = (
        f"{trees} fitted to the comparisons by penalised maximum likelihood: the dissimilarity of two objects is the "
    )
    text += (
        f"length of the path between them (Sattath and Tversky, 1977){added}, the difference of two dissimilarities "
    )
    text += f"is the log-odds of a response, and branch lengths have an exponential prior with rate {model.rate_:g}."
    if model.lapse_:
        text += f" A share of {model.lapse_:g} of the responses was taken to be lapses, given at random."
    yield text
    if model.held_out_loss_ is not None:
        options = {"rate": model.rate, "share of lapses": model.lapse, "number of trees": model.n_trees}
        chosen = [name for name, given in options.items() if given == "auto"]
        words = " and ".join(filter(None, [", ".join(chosen[:-1]), *chosen[-1:]])).capitalize()
        text = f"{words} {'was' if len(chosen) == 1 else 'were'} chosen by held-out "
        yield text + f"responses, whose mean log loss was {model.held_out_loss_:.3f} (chance {chance_loss(model):.3f})."
    yield "The hierarchy is average linkage on the path lengths."
    if result.comparisons is not None:
        share = model.score(result.comparisons.without_weights())
        text = f"Path lengths agree with {100 * share:.1f}% of the comparisons that they were fitted to "
        yield text + "(a tie counts half)."
