"The commands `cluster` and `demo`: from options to a hierarchy, and from a result to a screen and files."

import argparse
import sys
import warnings
from dataclasses import replace

import numpy as np

from ..core.parallel import command_bar
from ..core.validation import check_integer, check_names, check_similarity, require, visible_line
from ..evaluation._candidates import MANY_OBJECTS, SUFFIX, candidate, tree_names
from ..evaluation._candidates import refined as refined_tree
from ..evaluation.object_tables import (
    read_initial,
    read_similarity,
    read_truth,
    similarity_of_distances,
    warn_if_distances,
)
from ..evaluation.outputs import check_files
from ..methods import methods, passive_methods
from ._report_options import add_report_options, check_report_options, with_provenance
from ..core.screen import say, warnings_to_stderr
from ._options import one_line, option_name, refuse
from ._reading import ANSWER_WORDS, add_files, add_reading, files_of, say_if_disconnected, title_of, typed_answers

method_names = {name: method.title.split(", ")[0] for name, method in methods.items()}
refined_names = [f"{name}{SUFFIX}" for name in passive_methods()]
model_names = [name for name in tree_names() if name.removesuffix(SUFFIX) not in methods]  # points, additive tree
ADDITIVE = "additive"
flat_names = {"adds": "no hierarchy but clusters, by AddS and a semidefinite program", "mulk": "the same, by MulK"}
MOST_ITERATIONS = 300  # of a semidefinite program about many objects: half a second each for two thousand
AUTO, WITHOUT_EVIDENCE = "auto", "4-al"
known_names = [AUTO, *method_names, *refined_names, *flat_names, *model_names, ADDITIVE]
AUTO_HELP = """auto: the simplest one that is not surely worse than the best at predicting held-out answers (default;
    with a matrix, initial clusters or an option of some methods: 4-al)"""

HELP = {
    "description": """Build a hierarchy from a file of answers: CSV, TSV, JSON, JSON lines or Parquet, perhaps packed
        (.gz, .zip), one answer a row, one object a cell.""",
    "self_pairs": """{self_pairs}: count every object as infinitely similar to itself (default),
        or not""",
    "trees": """additive: number of trees, 1, 2, 3, or auto: as many as held-out answers support (default)""",
    "questions": "{budget}: how many questions to spend (default: N squared)",
    "initial": """{starts}: file with initial clusters (object,cluster); objects that are not in it start on their
        own""",
    "seed": """seed of everything random: which answers auto holds out, the starts of embeddings and of the additive
        tree, the questions of the methods that ask, the k-means in adds and mulk, the draws of --support and
        --structure (default: 0)""",
    "clusters": """also find exactly K clusters, or with auto as many as held-out answers support: of several cuts of
        trees and flat methods (with --method: of the cuts of its tree) those that explain the answers best; a
        similarity matrix: cut by merge order; adds, mulk: find K clusters (default: as many as SPUR chooses)""",
    "truth": """file with each object's true class (object,class): colours the leaves, and with --clusters measures
        the agreement""",
    "out": """write the result; the ending says how: .html (page), .svg, .pdf, .png (picture), .nwk (Newick), .csv
        (linkage matrix; of additive, path lengths), .json (everything); of adds and mulk .html, .csv (clusters)
        or .json. May be repeated""",
    "linkage": "linkage that `comparison-hc learn` wrote; FILE then holds features or distances, and no answers",
    "labels_out": "write the cluster of every object; needs --clusters, but for adds and mulk",
    "majority": "first replace the answers to each question by the majority's; ties are dropped",
    "title": "title of the page (default: the file's name)",
    "tree": "draw the tree on the screen even when files are written",
    "support": """how nearly every cluster comes back in N trees (default: 200) of answers drawn again with
        replacement, or of people, if the file says who answered; and what answers by coin would reach""",
    "support_kind": """the support that pictures and files show: transfer (default; how nearly a cluster comes back),
        exact (how often just these objects do) or jaccard (the overlap with the most similar cluster)""",
    "consensus": """with --support: write the majority-rule consensus of the resampled trees; its ending says how, as
        for --out""",
    "structure": """test whether the answers hold any structure: build the tree from N (default: 99) permutations, in
        which people judge at random, and say how often it fits its answers as well""",
    "without": "leave out the answers of this person; may be repeated",
}


def help_text(topic):
    "A help text without the line breaks of the source; in braces, the methods that can use an option."
    able = {}
    for field in ("starts", "self_pairs", "budget"):
        able[field] = ", ".join(name for name, method in methods.items() if getattr(method, field))
    return one_line(HELP[topic].format(**able))


def add_cluster(commands):
    "The words of `cluster`."
    known = "; ".join(f"{name}: {what}" for name, what in (method_names | flat_names).items())
    known = f"{one_line(AUTO_HELP)}; {known} (those that ask need --kind similarity). "
    known += "Behind one that takes answers may stand -refined: its tree is then improved, branch by branch. "
    known += "additive: trees with branch lengths that predict the answers, and average linkage on their paths. "
    known += "Also points-al and additive-al: average linkage on points in the plane and on an additive tree; and, of "
    known += "triplets, t-ste-al, forte-al and soe-al: average linkage on other embeddings"
    cluster = commands.add_parser(
        "cluster", help="build a hierarchy from a file of answers", description=help_text("description")
    )
    add_files(cluster, "the answers; several files or a folder: one file a person")

    def option(name, **settings):
        if "help" not in settings:
            settings["help"] = help_text(name.replace("-", "_"))
        cluster.add_argument(f"--{name}", **settings)

    option("method", type=typed_method, default=AUTO, metavar="NAME", help=known)
    option("trees", metavar="T", type=typed_trees)
    option("self-pairs", action=argparse.BooleanOptionalAction, default=None)
    option("questions", type=int, metavar="M")
    option("initial", metavar="FILE")
    option("seed", type=int, default=0)
    option("clusters", type=typed_number, metavar="K")
    option("truth", metavar="LABELS")
    option("out", action="append", default=[], metavar="PATH")
    option("linkage", metavar="MODEL.json")
    option("labels-out", metavar="PATH.csv")
    option("majority", action="store_true")
    add_reading(cluster, matrix=True)
    option("title")
    option("tree", action="store_true")
    add_support(cluster)
    add_report_options(cluster)
    cluster.set_defaults(run=cluster_command)


def typed_method(text):
    """A name as it is, or as the table of `compare` prints it, with a hyphen instead of the blank or without.

    Raises `argparse.ArgumentTypeError`, which lists the names as they can be typed without quotes.
    """
    plain = text.lower().replace("–", "-")
    name = plain.removesuffix("-refined") + SUFFIX if plain.endswith("-refined") else plain
    if name not in known_names:
        typed = ", ".join(known.replace(SUFFIX, "-refined") for known in known_names)
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {typed})")
    return name


def typed_number(text):
    "A number of clusters, or auto. Raises `argparse.ArgumentTypeError`."
    if text == AUTO:
        return AUTO
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number or {AUTO}; got {text!r}") from None


def typed_trees(text):
    "A number of additive trees, or auto. Raises `argparse.ArgumentTypeError`."
    if text not in ("1", "2", "3", AUTO):
        raise argparse.ArgumentTypeError(f"must be 1, 2, 3 or {AUTO}; got {text!r}")
    return text if text == AUTO else int(text)


def cluster_command(args):
    "Read what was given, build the hierarchy or the clusters, print the summary, write the files."
    from comparison_hc.cli.learn import learned_result
    from comparison_hc.evaluation.report import FLAT_WRITERS

    args.distances = args.kind == "distance"
    args.kind = "similarity" if args.distances else args.kind
    open_number = args.clusters == AUTO
    answers = args.linkage is None and args.kind != "similarity"
    require(answers or not open_number, "--clusters", "a number where FILE holds no answers", args.clusters)
    if args.linkage is not None:
        return report(with_provenance(learned_result(args), args), args)
    tables = ("truth", "initial", "objects", "people", "annotate", "against")
    read = [*files_of(args), *((option_name(name), getattr(args, name)) for name in tables)]
    check_files(args, read, FLAT_WRITERS if args.method in flat_names else None)
    check_support(args, args.method in flat_names)
    check_report_options(args)
    require(args.trees is None or args.method == ADDITIVE, "--trees", f"given with --method {ADDITIVE}", args.trees)
    if args.method in flat_names:
        args.clusters = None if open_number else args.clusters
        return report(with_provenance(_flat_clusters(args), args), args)
    args.method = settled_method(args)
    together = args.clusters is not None or not args.labels_out
    require(together, "--labels-out", "given together with --clusters", args.labels_out)
    if args.method == AUTO:
        return report(with_provenance(_from_evidence(args), args), args)
    if args.method == ADDITIVE:
        return report(with_provenance(_from_additive_trees(args), args), args)
    if args.method in model_names:
        return report(with_provenance(_from_model(args), args), args)
    rule = f"left out with --method {args.method}, which starts from single objects"
    require(args.initial is None or methods[args.method.removesuffix(SUFFIX)].starts, "--initial", rule, args.initial)
    result = _from_similarity(args) if args.kind == "similarity" else _from_answers(args)
    report(with_provenance(result, args), args)


def _from_answers(args):
    "The hierarchy of a file of answers."
    from comparison_hc.evaluation.report import Result
    from comparison_hc.hierarchical.refinement import refine
    from comparison_hc.methods import build_hierarchy

    name, refined = args.method.removesuffix(SUFFIX), args.method.endswith(SUFFIX)
    method = methods[name]
    passive = ", ".join(passive_methods())
    rule = f"one that takes answers ({passive}); the others ask, and need --kind similarity"
    require(method.passive, "--method", rule, args.method)
    takers = ", ".join(name for name, m in methods.items() if m.takes == "quadruplets")
    rule = f"one that takes quadruplets ({takers}) with --kind quadruplets"
    require(args.kind != "quadruplets" or method.takes == "quadruplets", "--method", rule, args.method)
    comparisons, classes, statements, (initial, start) = _read_answers(args)
    say_if_disconnected(comparisons)
    options = dict(self_pairs=args.self_pairs, n_comparisons=args.questions)

    with command_bar(name) as progress:
        tree, _ = build_hierarchy(name, comparisons, initial, progress=progress, **options)
    how_built, notes = method.title, start | statements
    if refined:
        with command_bar("refined") as progress:
            found = refine(tree, comparisons, progress=progress)
        tree, how_built, args.interrupted = found.dendrogram, candidate(args.method).title, found.interrupted
        notes |= {"refinement": "interrupted, the best tree so far"} if found.interrupted else {}

    def build(drawn):
        one, _ = build_hierarchy(name, drawn, initial, **options)
        return refined_tree(one, drawn) if refined else one

    title = title_of(args)
    papers = {"references": list(method.papers)}
    result = Result(tree, comparisons, title, how_built, None, classes, notes, provenance=papers)
    return with_trust(with_clusters(result, args, build), args, build)


def _from_model(args):
    "The hierarchy of points or of an additive tree, fitted first; options of other methods are refused."
    from comparison_hc.evaluation._candidates import fit
    from comparison_hc.evaluation.report import Result

    chosen = candidate(args.method, "--method")
    rule = f"a kind of {'answers' if chosen.takes == 'quadruplets' else 'triplets'} with --method {args.method}"
    refused = ("similarity", "quadruplets") if chosen.takes == "triplets" else ("similarity",)
    require(args.kind not in refused, "--kind", rule, args.kind)
    refuse(args, ("self_pairs", "questions", "initial"), f"left out with --method {args.method}")
    comparisons, classes, statements, _ = _read_answers(args)
    rule = f"left out with --method {args.method}, which cannot weigh answers"
    require(chosen.weighs or comparisons.weights is None, "--weight", rule, args.weight)
    say_if_disconnected(comparisons)
    with command_bar(args.method):
        tree, _ = fit(chosen, comparisons, args.seed, {})
    title = title_of(args)
    result = Result(tree, comparisons, title, chosen.title, None, classes, statements)
    result = replace(result, provenance={"references": list(chosen.papers)})

    def build(drawn):
        return fit(chosen, drawn, args.seed, {})[0]

    return with_trust(with_clusters(result, args, build), args, build)


def _from_additive_trees(args):
    "Additive trees, and average linkage on their path lengths; options of other methods are refused."
    from comparison_hc.evaluation._additive import DendrogramOfTrees, fit_trees
    from comparison_hc.evaluation.report import Result

    require(args.kind != "similarity", "--kind", f"a kind of answers with --method {ADDITIVE}", args.kind)
    refuse(args, ("self_pairs", "questions", "initial"), f"left out with --method {ADDITIVE}")
    comparisons, classes, statements, _ = _read_answers(args)
    say_if_disconnected(comparisons)
    kind = args.kind if _has_statements(args) else "comparisons"
    with command_bar(ADDITIVE):
        model = fit_trees(comparisons, kind, args.trees or AUTO, rng=args.seed)

    def build(drawn):
        return DendrogramOfTrees.of(fit_trees(drawn, kind, model.n_trees_, model.rate_, model.lapse_, args.seed))

    shown = dict(provenance={"references": ["ST77"]}, additive=model)
    title, tree = title_of(args), DendrogramOfTrees.of(model)
    result = Result(tree, comparisons, title, "additive trees", None, classes, statements, **shown)

    def split(answers):  # held-out answers part statements
        return fit_trees(answers, "comparisons", model.n_trees_, model.rate_, model.lapse_, args.seed).dendrogram_

    return with_trust(with_clusters(result, args, split), args, build)


def _from_evidence(args):
    "The hierarchy of the simplest method that is not surely worse than the best."
    from comparison_hc.evaluation.model_selection import choose_method
    from comparison_hc.evaluation._candidates import fit
    from comparison_hc.evaluation.report import Result

    comparisons, classes, statements, _ = _read_answers(args)
    say_if_disconnected(comparisons)
    with command_bar("methods") as progress:
        choice = choose_method(comparisons, rng=args.seed, progress=progress)
    args.interrupted = choice.compared is not None and choice.compared.interrupted
    title = title_of(args)
    result = Result(choice.dendrogram, comparisons, title, choice.title, None, classes, statements)
    papers = {"references": list(candidate(choice.name).papers)}
    result = replace(result, compared=choice.compared, provenance=papers)
    build = lambda drawn: fit(candidate(choice.name), drawn, args.seed, {})[0]
    return with_trust(with_clusters(result, args), args, build)


def with_clusters(result, args, build=None):
    "The result with the clusters that were asked for; with `build`, of the cuts of its trees."
    from comparison_hc.evaluation.cluster_choice import choose_clusters, degenerate

    if args.clusters is None:
        return result
    number = None if args.clusters == AUTO else args.clusters
    with command_bar("clusters") as progress:
        shown = dict(dendrogram=result.dendrogram, rng=args.seed)
        chosen = choose_clusters(result.comparisons, number, **shown, build=build, progress=progress)
        notes = dict(result.notes)
        if build and degenerate(chosen.labels):
            other = choose_clusters(result.comparisons, number, **shown)
            sizes = "/".join(map(str, other.sizes))
            notes["better clusters"] = f"{sizes} objects, by {other.title}; --method auto compares all methods"
    return replace(result, partition=chosen, notes=notes)


def settled_method(args):
    "The method of a call: `auto` needs answers, and nothing that only some methods can use; else it is the default."
    special = args.initial is not None or args.self_pairs is not None or args.questions is not None
    return WITHOUT_EVIDENCE if args.method == AUTO and (args.kind == "similarity" or special) else args.method


def _read_answers(args):
    "(answers, classes or None, what the summary says of the file, initial clusters and what it says of them)."
    comparisons = typed_answers(args)
    initial = _initial(args, comparisons.object_names)
    classes = read_truth(args.truth, comparisons.object_names) if args.truth else None
    comparisons = comparisons.without_people(args.without, "--without")
    notes = {"left out": ", ".join(args.without)} if args.without else {}
    if args.kind in ("central", "odd-one-out"):
        notes["statements"] = f"{len(comparisons) // 2:,} ({args.kind}, two triplets each)"
    if args.majority:
        comparisons = comparisons.majority()
    require(len(comparisons), str(args.file), "a file that leaves answers after --majority", "every question tied")
    return comparisons, classes, notes, initial


def _initial(args, names):
    "(initial clusters or None, what the summary says of them); no more clusters may be asked for than there are."
    initial, said = read_initial(args.initial, names) if args.initial else (None, None)
    if args.clusters not in (None, AUTO):
        check_integer(args.clusters, "--clusters", 1, len(names) if initial is None else len(initial))
    return initial, {"started from": said} if initial else {}


def _flat_clusters(args):
    "The clusters of a file of answers; options of hierarchies are refused. Warnings become lines of the error stream."
    from comparison_hc.estimators import ComparisonClustering
    from comparison_hc.evaluation.report import FlatResult

    require(args.kind != "similarity", "--kind", f"a kind of answers with --method {args.method}", args.kind)
    refuse(
        args,
        ("self_pairs", "questions", "initial", "tree", "annotate", "against"),
        f"left out with --method {args.method}",
    )
    comparisons, classes, notes, _ = _read_answers(args)
    options, n = dict(rng=args.seed), comparisons.n_objects
    if n > MANY_OBJECTS:
        options["max_iter"] = MOST_ITERATIONS
        notes |= {"iterations": f"at most {MOST_ITERATIONS} per semidefinite program, as there are {n:,} objects"}
        if args.clusters is None:
            say(
                f"{n:,} objects: a program for every number of clusters that is tried; --clusters K solves one",
                sys.stderr,
            )
    with warnings_to_stderr(), command_bar(args.method) as progress:
        model = ComparisonClustering(args.method, args.clusters, progress=progress, **options).fit(comparisons)
    proof, steps = model.certificate_, getattr(model.result_, "steps", ())
    method = f"{ {'adds': 'AddS', 'mulk': 'MulK'}[args.method] }-{comparisons.width}, SDP-k"
    if args.clusters:
        chosen = f"{model.n_clusters_}, as asked"
    else:
        chosen = f"{model.n_clusters_}, chosen by SPUR (objective {model.result_.objective:.3f})"
        method += ", SPUR"
    shown = "not proved to be the best partition"
    if proof:
        shown = "proved: no partition into as many clusters has more similarity inside"
    notes = notes | {"clusters": chosen, "optimality": shown}
    title = title_of(args)
    return FlatResult(model.labels_, comparisons, title, method, classes, notes, proof, steps)


def _from_similarity(args):
    "The hierarchy of a file with a similarity matrix; what only answers have is refused."
    from comparison_hc.evaluation.report import Result
    from comparison_hc.methods import build_from_similarity
    from comparison_hc.metrics import dasgupta_cost

    rule = "left out, or without -refined, with --kind similarity"
    require(not args.method.endswith(SUFFIX), "--method", rule, args.method)
    refuse(args, (*ANSWER_WORDS, "majority"), "left out with --kind similarity")
    require(isinstance(args.file, str), "FILE", "one file with --kind similarity", args.file)
    w, names = read_similarity(args.file, args.encoding)
    names, w = check_names(names, argument=f"the names in {args.file}"), check_similarity(w, str(args.file))
    if args.distances:
        w = similarity_of_distances(w, str(args.file))
    with warnings_to_stderr():
        warn_if_distances(w, args.file, "--kind distance (a diagonal that says nothing may be left empty)")
    initial, start = _initial(args, names)
    classes = read_truth(args.truth, names) if args.truth else None
    options = dict(self_pairs=args.self_pairs, n_comparisons=args.questions, rng=args.seed)
    with command_bar(args.method) as progress:
        tree, asked = build_from_similarity(args.method, w, initial, progress=progress, **options)
    seen = "every comparison" if asked is None else f"{asked:,} questions"
    notes = {"objects": f"{len(w):,}", "seen": seen, "Dasgupta's cost": f"{dasgupta_cost(tree, w):,.6g}"}
    title, method = title_of(args), methods[args.method].title
    papers = {"references": list(methods[args.method].papers)}
    shown = dict(n_clusters=args.clusters, classes=classes, notes=start | notes, provenance=papers, similarity=w)
    return Result(replace(tree, names=names), None, title, method, **shown)


def print_lines(result):
    "What the answers are and how well the result fits them."
    from comparison_hc.evaluation.report import result_lines

    lines = result_lines(result)
    width = max(len(what) for what, _ in lines)
    for what, text in lines:
        say(f"{what:<{width}}  {visible_line(text)}")


def write_results(result, paths, figure="tree"):
    "The files that were asked for. To be written before anything is printed: a screen may go away, as in `… | head`."
    from comparison_hc.evaluation.report import save_result

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for path in paths:
            save_result(result, path, figure)
    with warnings_to_stderr():
        for text, kind in dict.fromkeys((str(each.message), each.category) for each in found):  # once for all files
            warnings.warn(text, kind, stacklevel=2)
    return [f"wrote {path}" for path in paths]


def report(result, args):
    "Write a result's files and print it."
    from comparison_hc.core.io import atomic_write
    from comparison_hc.evaluation.report import consensus_result, labels_text

    written = write_results(result, args.out, getattr(args, "figure", "tree"))
    if getattr(args, "labels_out", None):
        atomic_write(args.labels_out, labels_text(result.names, result.labels))
        written.append(f"wrote {args.labels_out}")
    if getattr(args, "consensus", None):
        written += write_results(consensus_result(result), [args.consensus])
    print_lines(result)
    for number, names in enumerate(result.clusters()):
        say(f"cluster {number} ({len(names)}): {visible_line(', '.join(names))}")
    if hasattr(result, "dendrogram") and (not args.out or args.tree):
        say(f"\n{result.dendrogram.to_text()}")
    for line in written:
        say(line)


def add_demo(commands):
    "The words of `demo`."
    demo = commands.add_parser(
        "demo",
        help="the same on an embedded example",
        description="Build the hierarchy of twenty-four animals from simulated answers, and draw it.",
    )
    where = "write the result there, as `cluster` does (default: animals.html in this folder)"
    demo.add_argument("--out", action="append", default=[], metavar="PATH", help=where)
    demo.set_defaults(run=demo_command, tree=True)


def demo_command(args):
    "The main job on the embedded animals: no file read, no network."
    from comparison_hc.datasets import load_dataset
    from comparison_hc.evaluation.report import Result
    from comparison_hc.methods import build_hierarchy

    args.out = args.out or ["animals.html"]
    check_files(args)
    animals = load_dataset("animals")
    classes = [animals.label_names[c] for c in animals.labels]
    said = f"{len(animals.comparisons):,} ({animals.kind}, two triplets each), simulated, some of them wrong"
    tree, _ = build_hierarchy("4-al", animals.triplets)
    title = methods["4-al"].title
    report(Result(tree, animals.triplets, "Animals", title, None, classes, {"statements": said}), args)


FEWEST_COIN = 20  # trees of answers by coin
MUCH_WORK = 5_000_000  # answers in all trees together: with fewer, one process is done before others have started


def add_support(parser):
    "The words."
    for name, usual in (("support", 200), ("structure", 99)):
        parser.add_argument(f"--{name}", nargs="?", type=int, const=usual, metavar="N", help=help_text(name))
    kinds = dict(choices=("transfer", "exact", "jaccard"), default=None, help=help_text("support_kind"))
    parser.add_argument("--support-kind", **kinds)
    parser.add_argument("--consensus", metavar="PATH", help=help_text("consensus"))
    parser.add_argument("--without", action="append", default=[], metavar="PERSON", help=help_text("without"))


def check_support(args, flat):
    "Raises `InputError` where the words make no sense."
    for option, number in (("--support", args.support), ("--structure", args.structure)):
        if number is not None:
            check_integer(number, option)
            require(not flat, option, f"left out with --method {args.method}, which gives no hierarchy", number)
            require(args.kind != "similarity", option, "left out with --kind similarity", number)
    for option, value in (("--support-kind", args.support_kind), ("--consensus", args.consensus)):
        require(value is None or args.support is not None, option, "given together with --support", value)
    require(not args.without or args.kind != "similarity", "--without", "left out with --kind similarity", args.without)


def drawn_together(args, answers):
    "What the bootstrap draws."
    return np.arange(len(answers)) // 2 if answers.respondents is None and _has_statements(args) else None


def _has_statements(args):
    "Whether rows 1 and 2, 3 and 4, … are one thing that was said."
    return args.kind in ("central", "odd-one-out") and not args.majority


def with_trust(result, args, build):
    "The bootstrap and the test of the command. Ctrl-C ends each with what it has, and is said in its line."
    from comparison_hc.evaluation._additive import branch_support
    from comparison_hc.evaluation._candidates import candidate
    from comparison_hc.evaluation.bootstrap import (
        bootstrap_support,
        chance_support,
        null_flip,
        null_redraw,
        structure_test,
    )

    answers, notes, trust = result.comparisons, {}, {}
    chance = null_redraw if _has_statements(args) else null_flip

    def workers(n_trees):
        return -1 if n_trees * len(answers) >= MUCH_WORK else 1

    if args.support is not None:
        by = drawn_together(args, answers)
        draw = args.support, by, args.seed, workers(args.support)
        with command_bar("support") as progress:
            found = bootstrap_support(result.dendrogram, answers, build, *draw, progress)
        drawn = "statements" if by is not None else found.by
        notes["support"] = support_sentence(found, drawn) + _stopped(found.interrupted, args.support, args)
        trust = dict(resampled=found, support_kind=args.support_kind)
        if result.additive is not None:
            trust["branch_support"] = branch_support(result.additive.trees_, found.trees)
        if not found.interrupted:
            n_coin = max(FEWEST_COIN, args.support // 4)
            with command_bar("support by coin") as progress:
                coin = chance_support(answers, build, n_coin, by, chance, args.seed, workers(n_coin), progress)
            notes["support by coin"] = chance_sentence(coin)
            trust["chance"] = coin
    if args.structure is not None:
        auto = args.method == "auto"  # the method was chosen by these answers, and would flatter them
        draw = args.structure, chance, args.seed, workers(args.structure)
        with command_bar("permutations") as progress:
            test = structure_test(answers, WITHOUT_EVIDENCE if auto else build, *draw, progress)
        args.interrupted = getattr(args, "interrupted", False) or test.interrupted
        notes["structure"] = (
            structure_sentence(test, args.structure) + f"; tested with {candidate(WITHOUT_EVIDENCE).title}" * auto
        )
    return replace(result, notes=result.notes | notes, **trust)


def support_sentence(found, drawn):
    "How much of the tree comes back, in words."
    inner = found.dendrogram.n_leaves - 2
    if inner < 1:
        return f"no inner clusters; {len(found.trees)} trees of {drawn} drawn again"
    kinds = dict(transfer=found.transfer, exact=found.values, Jaccard=found.jaccard)
    counts = ", ".join(f"{name} {(each[:-1] >= 0.7).sum()}" for name, each in kinds.items())
    middle = ", ".join(f"{name} {np.median(each[:-1]):.2f}" for name, each in kinds.items())
    text = f"of {inner} inner clusters, support of at least 70% have: {counts}; median: {middle}"
    return f"{text}; {len(found.trees)} trees of {drawn} drawn again"


def chance_sentence(coin):
    "What support answers by coin reach, in words."
    shares = coin.transfer[:-1]
    if not len(shares):
        return "no inner clusters"
    text = f"from answers by coin, inner clusters reach a transfer support of {shares.mean():.2f} on average and "
    return text + f"{shares.max():.2f} at most ({len(coin.trees)} trees)"


def structure_sentence(test, n_draws):
    "What the test found, in words."
    n, most = len(test.null), test.null.max()
    verdict = "may hold no structure" if test.p_value > 0.05 else "hold more structure than chance explains"
    asked = f"; interrupted, {n_draws} were asked for" if test.interrupted else ""
    text = f"the answers {verdict}: p = {test.p_value:.2g}, {n} permutations{asked}; the tree gets "
    text += f"{test.agreement:.1%} of the answers that it decides right, trees of answers given by chance "
    return text + f"{test.null.mean():.1%} on average and {most:.1%} at most"


def _stopped(interrupted, asked, args):
    "What is said of an interruption, which also becomes the exit code."
    args.interrupted = getattr(args, "interrupted", False) or interrupted
    return f" (interrupted; {asked} were asked for)" if interrupted else ""
