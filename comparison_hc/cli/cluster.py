"The commands `cluster` and `demo`: from options to a hierarchy, and from a result to the terminal and files."

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
from .options import add_command, adder, help_texts, option_name, refuse
from ._reading import ANSWER_OPTIONS, add_files, add_reading, files_of, say_if_disconnected, title_of, typed_answers

method_names = {name: method.title.split(", ")[0] for name, method in methods.items()}
refined_names = [f"{name}{SUFFIX}" for name in passive_methods()]
model_names = [name for name in tree_names() if name.removesuffix(SUFFIX) not in methods]  # points, additive tree
ADDITIVE = "additive"
flat_names = {name: help_texts()["methods"][name] for name in ("adds", "mulk")}
MOST_ITERATIONS = 300  # of a semidefinite program about many objects: half a second each for two thousand
AUTO, WITHOUT_EVIDENCE = "auto", "4-al"
known_names = [AUTO, *method_names, *refined_names, *flat_names, *model_names, ADDITIVE]


def _filled():
    "Texts for the braces of help.json: the methods, and the names of those that have an option."
    able = {}
    for field in ("starts", "self_pairs", "budget"):
        able[field] = ", ".join(name for name, method in methods.items() if getattr(method, field))
    texts = help_texts()["methods"]
    known = "; ".join(f"{name}: {title}" for name, title in (method_names | flat_names).items())
    return able | dict(methods=f"{texts['auto']}; {known}. {texts['more']}")


def add_cluster(commands):
    "Add the command `cluster`."
    cluster, _ = add_command(commands, "cluster", cluster_command)
    option = adder(cluster, "cluster", **_filled())
    add_files(option)
    option("--method", type=typed_method, default=AUTO, metavar="NAME")
    option("--trees", metavar="T", type=typed_trees)
    option("--self-pairs", action=argparse.BooleanOptionalAction, default=None)
    option("--questions", type=int, metavar="M")
    option("--initial", metavar="FILE")
    option("--seed", type=int, default=0)
    option("--clusters", type=typed_number, metavar="K")
    option("--truth", metavar="LABELS")
    option("--out", action="append", default=[], metavar="PATH")
    option("--linkage", metavar="MODEL.json")
    option("--labels-out", metavar="PATH.csv")
    option("--majority", action="store_true")
    add_reading(cluster, matrix=True)
    option("--title")
    option("--tree", action="store_true")
    option("--support", nargs="?", type=int, const=200, metavar="N")
    option("--structure", nargs="?", type=int, const=99, metavar="N")
    option("--support-kind", choices=("transfer", "exact", "jaccard"))
    option("--consensus", metavar="PATH")
    option("--without", action="append", default=[], metavar="PERSON")
    add_report_options(cluster)


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
    "Read the file, build the hierarchy or the clusters, print the summary and write the files."
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
    comparisons, classes, responses, (initial, start) = _read_answers(args)
    say_if_disconnected(comparisons)
    options = dict(self_pairs=args.self_pairs, n_comparisons=args.questions)

    with command_bar(name) as progress:
        tree, _ = build_hierarchy(name, comparisons, initial, progress=progress, **options)
    how_built, notes = method.title, start | responses
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
    "The hierarchy of fitted points or of a fitted additive tree; options of other methods are refused."
    from comparison_hc.evaluation._candidates import fit
    from comparison_hc.evaluation.report import Result

    chosen = candidate(args.method, "--method")
    rule = f"a kind of {'answers' if chosen.takes == 'quadruplets' else 'triplets'} with --method {args.method}"
    refused = ("similarity", "quadruplets") if chosen.takes == "triplets" else ("similarity",)
    require(args.kind not in refused, "--kind", rule, args.kind)
    refuse(args, ("self_pairs", "questions", "initial"), f"left out with --method {args.method}")
    comparisons, classes, responses, _ = _read_answers(args)
    rule = f"left out with --method {args.method}, which cannot weigh answers"
    require(chosen.weighs or comparisons.weights is None, "--weight", rule, args.weight)
    say_if_disconnected(comparisons)
    with command_bar(args.method):
        tree, _ = fit(chosen, comparisons, args.seed, {})
    title = title_of(args)
    result = Result(tree, comparisons, title, chosen.title, None, classes, responses)
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
    comparisons, classes, responses, _ = _read_answers(args)
    say_if_disconnected(comparisons)
    kind = args.kind if _has_responses(args) else "comparisons"
    with command_bar(ADDITIVE):
        model = fit_trees(comparisons, kind, args.trees or AUTO, rng=args.seed)

    def build(drawn):
        return DendrogramOfTrees.of(fit_trees(drawn, kind, model.n_trees_, model.rate_, model.lapse_, args.seed))

    shown = dict(provenance={"references": ["ST77"]}, additive=model)
    title, tree = title_of(args), DendrogramOfTrees.of(model)
    result = Result(tree, comparisons, title, "additive trees", None, classes, responses, **shown)

    def split(answers):  # a split of the answers may separate the two rows of a response
        return fit_trees(answers, "comparisons", model.n_trees_, model.rate_, model.lapse_, args.seed).dendrogram_

    return with_trust(with_clusters(result, args, split), args, build)


def _from_evidence(args):
    "The hierarchy of the simplest method that is not surely worse than the best."
    from comparison_hc.evaluation.model_selection import choose_method
    from comparison_hc.evaluation._candidates import fit
    from comparison_hc.evaluation.report import Result

    comparisons, classes, responses, _ = _read_answers(args)
    say_if_disconnected(comparisons)
    with command_bar("methods") as progress:
        choice = choose_method(comparisons, rng=args.seed, progress=progress)
    args.interrupted = choice.compared is not None and choice.compared.interrupted
    title = title_of(args)
    result = Result(choice.dendrogram, comparisons, title, choice.title, None, classes, responses)
    papers = {"references": list(candidate(choice.name).papers)}
    result = replace(result, compared=choice.compared, provenance=papers)
    build = lambda drawn: fit(candidate(choice.name), drawn, args.seed, {})[0]
    return with_trust(with_clusters(result, args), args, build)


def with_clusters(result, args, build=None):
    "The result with the clusters of --clusters; with `build`, they are cuts of its trees."
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
    "The method of a call: `auto` needs answers and no option that only some methods have; otherwise it is 4-al."
    special = args.initial is not None or args.self_pairs is not None or args.questions is not None
    return WITHOUT_EVIDENCE if args.method == AUTO and (args.kind == "similarity" or special) else args.method


def _read_answers(args):
    "(answers, classes or None, notes on the file, (initial clusters, notes on them))."
    comparisons = typed_answers(args)
    initial = _initial(args, comparisons.object_names)
    classes = read_truth(args.truth, comparisons.object_names) if args.truth else None
    comparisons = comparisons.without_people(args.without, "--without")
    notes = {"left out": ", ".join(args.without)} if args.without else {}
    if args.kind in ("central", "odd-one-out"):
        notes["responses"] = f"{len(comparisons) // 2:,} ({args.kind}, two triplets each)"
    if args.majority:
        comparisons = comparisons.majority()
    require(len(comparisons), str(args.file), "a file that leaves answers after --majority", "every question tied")
    return comparisons, classes, notes, initial


def _initial(args, names):
    "(initial clusters or None, notes on them). Raises `InputError` if --clusters exceeds their number."
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
    "The hierarchy of a file with a similarity matrix; options about answers are refused."
    from comparison_hc.evaluation.report import Result
    from comparison_hc.methods import build_from_similarity
    from comparison_hc.metrics import dasgupta_cost

    rule = "left out, or without -refined, with --kind similarity"
    require(not args.method.endswith(SUFFIX), "--method", rule, args.method)
    refuse(args, (*ANSWER_OPTIONS, "majority"), "left out with --kind similarity")
    require(isinstance(args.file, str), "FILE", "one file with --kind similarity", args.file)
    w, names = read_similarity(args.file, args.encoding)
    names, w = check_names(names, argument=f"the names in {args.file}"), check_similarity(w, str(args.file))
    if args.distances:
        w = similarity_of_distances(w, str(args.file))
    with warnings_to_stderr():
        warn_if_distances(w, args.file, "--kind distance (the diagonal may be left empty)")
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
    "Print what the answers are and how well the result fits them."
    from comparison_hc.evaluation.report import result_lines

    lines = result_lines(result)
    width = max(len(what) for what, _ in lines)
    for what, text in lines:
        say(f"{what:<{width}}  {visible_line(text)}")


def write_results(result, paths, figure="tree"):
    "Write the files, before anything is printed: the reader of the output may close it, as in `… | head`."
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
    "Add the command `demo`."
    demo, option = add_command(commands, "demo", demo_command)
    option("--out", action="append", default=[], metavar="PATH")
    demo.set_defaults(tree=True)


def demo_command(args):
    "Build the hierarchy of the built-in animals, without a file and without a network."
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
    report(Result(tree, animals.triplets, "Animals", title, None, classes, {"responses": said}), args)


FEWEST_COIN = 20  # trees of answers by coin
MUCH_WORK = 5_000_000  # answers in all trees together: below it, one process ends before others have started


def check_support(args, flat):
    "Raises `InputError` where options about support do not go together."
    for option, number in (("--support", args.support), ("--structure", args.structure)):
        if number is not None:
            check_integer(number, option)
            require(not flat, option, f"left out with --method {args.method}, which gives no hierarchy", number)
            require(args.kind != "similarity", option, "left out with --kind similarity", number)
    for option, value in (("--support-kind", args.support_kind), ("--consensus", args.consensus)):
        require(value is None or args.support is not None, option, "given together with --support", value)
    require(not args.without or args.kind != "similarity", "--without", "left out with --kind similarity", args.without)


def drawn_together(args, answers):
    "The units that the bootstrap resamples: the response of each row, or None for the usual ones."
    return np.arange(len(answers)) // 2 if answers.respondents is None and _has_responses(args) else None


def _has_responses(args):
    "Whether rows 1 and 2, 3 and 4, … are one response."
    return args.kind in ("central", "odd-one-out") and not args.majority


def with_trust(result, args, build):
    "The result with its bootstrap and its test of structure. Ctrl-C ends each with the trees that it has."
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
    chance = null_redraw if _has_responses(args) else null_flip

    def workers(n_trees):
        return -1 if n_trees * len(answers) >= MUCH_WORK else 1

    if args.support is not None:
        by = drawn_together(args, answers)
        draw = args.support, by, args.seed, workers(args.support)
        with command_bar("support") as progress:
            found = bootstrap_support(result.dendrogram, answers, build, *draw, progress)
        drawn = "responses" if by is not None else found.by
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
    "A sentence on the support of the clusters."
    inner = found.dendrogram.n_leaves - 2
    if inner < 1:
        return f"no inner clusters; {len(found.trees)} trees of {drawn} drawn again"
    kinds = dict(transfer=found.transfer, exact=found.values, Jaccard=found.jaccard)
    counts = ", ".join(f"{name} {(each[:-1] >= 0.7).sum()}" for name, each in kinds.items())
    middle = ", ".join(f"{name} {np.median(each[:-1]):.2f}" for name, each in kinds.items())
    text = f"of {inner} inner clusters, support of at least 70% have: {counts}; median: {middle}"
    return f"{text}; {len(found.trees)} trees of {drawn} drawn again"


def chance_sentence(coin):
    "A sentence on the support that random answers reach."
    shares = coin.transfer[:-1]
    if not len(shares):
        return "no inner clusters"
    text = f"from answers by coin, inner clusters reach a transfer support of {shares.mean():.2f} on average and "
    return text + f"{shares.max():.2f} at most ({len(coin.trees)} trees)"


def structure_sentence(test, n_draws):
    "A sentence on the test of structure."
    n, most = len(test.null), test.null.max()
    verdict = "may hold no structure" if test.p_value > 0.05 else "hold more structure than chance explains"
    asked = f"; interrupted, {n_draws} were asked for" if test.interrupted else ""
    text = f"the answers {verdict}: p = {test.p_value:.2g}, {n} permutations{asked}; the tree gets "
    text += f"{test.agreement:.1%} of the answers that it decides right, trees of answers given by chance "
    return text + f"{test.null.mean():.1%} on average and {most:.1%} at most"


def _stopped(interrupted, asked, args):
    "A note on an interruption, which also sets the exit code."
    args.interrupted = getattr(args, "interrupted", False) or interrupted
    return f" (interrupted; {asked} were asked for)" if interrupted else ""
