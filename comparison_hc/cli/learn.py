"The command `learn`, and `cluster --linkage`: from files of tasks to a model, and from a model to a hierarchy."


import shlex
from pathlib import Path

from ..core.parallel import check_workers, command_bar
from ..core.validation import InputError, check_integer, require
from ..evaluation.object_tables import read_truth
from .options import HEADER, add_command, help_texts, parts_of, refuse
from ..evaluation.outputs import check_files, check_overwriting
from ..core.screen import say
from comparison_hc.evaluation._task_tables import (
    DISTANCES,
    SCALES,
    file_digest,
    read_distance_tasks,
    read_distances,
    read_feature_table,
    read_feature_tasks,
)
from ..link.merge import NAMED

def add_learn(commands):
    "Add the command `learn`."
    _, option = add_command(commands, "learn", learn_command)
    option("tasks", nargs="+", metavar="TASK")
    option("--out", required=True, metavar="PATH.json")
    option("--label", metavar="COLUMN")
    option("--features", metavar="A,B,C")
    option("--metrics", nargs=2, metavar=("A,B", "C,D"))
    option("--both", action="store_true")
    option("--merges", metavar="A,B")
    option("--loss", choices=["pruning", "majority"], default="pruning")
    option("--clusters", type=int, metavar="K")
    option("--distance", choices=DISTANCES, default="euclidean")
    option("--scale", choices=SCALES, default="none")
    option("--labels", action="append", default=[], metavar="FILE")
    option("--journal", metavar="FILE")
    option("--jobs", type=int, default=1, metavar="N")
    option("--header", choices=["yes", "no", "auto"], default="auto")
    option("--encoding", default="utf-8-sig")


def learn_command(args):
    "Read the tasks, learn the linkage, print its gain and write the model."
    from comparison_hc.evaluation.linkage_learning import learn_model, save_model
    from comparison_hc.core.io import check_destination

    _check_learn(args)
    check_destination(args.out, "--out", (".json",))
    read = [("TASK", path) for path in args.tasks] + [("--labels", path) for path in args.labels]
    check_overwriting(read, [("--out", args.out), ("--journal", args.journal)])
    found = read_tasks(args)
    lines = {"tasks": _tasks_text(found.tasks)} | found.notes
    width = max(map(len, lines))
    for what, text in lines.items():
        say(f"{what:<{width}}  {text}")
    options = dict(both=args.both, loss=args.loss, n_clusters=args.clusters, n_jobs=args.jobs, journal=args.journal)
    with command_bar("tasks") as progress:
        merges = parts_of(args.merges, "--merges")
        model = learn_model(
            found.tasks, merges, measure=found.measure, how=_how(args, read), progress=progress, **options
        )
    save_model(model, args.out)
    if model.held_out is not None:
        print(f"\n{model.held_out.table().to_string(float_format='{:.4f}'.format)}\n")
    for line in (*model.sentences(), f"wrote {args.out}"):
        say(line)


def _check_learn(args):
    "Options that do not go together. Raises `InputError`."
    check_workers(args.jobs, "--jobs")
    if args.clusters is not None:
        check_integer(args.clusters, "--clusters", 1)
    require(not args.both or args.metrics, "--both", "given together with --metrics", args.both)
    together = "left out with --metrics, which names the features"
    require(not (args.metrics and args.features), "--features", together, args.features)
    if args.labels:
        refuse(args, ("label", "features", "metrics"), "left out with --labels: those tasks are distances")
    merges = parts_of(args.merges, "--merges")
    count = 1 if args.metrics and not args.both else 2
    fits = merges is None or len(merges) == count and set(merges) <= set(NAMED)
    require(fits, "--merges", f"{count} of {', '.join(NAMED)}", args.merges)


def read_tasks(args):
    "The tasks of the files. Raises `InputError` with file and line."
    if args.labels:
        return read_distance_tasks(args.tasks, args.labels, args.encoding)
    groups = None
    if args.metrics:
        groups = [parts_of(text, "--metrics") for text in args.metrics]
    elif args.features:
        groups = [parts_of(args.features, "--features")]
    how = args.label, args.distance, args.scale, HEADER[args.header], args.encoding
    return read_feature_tasks(args.tasks, groups, *how)


def _tasks_text(tasks):
    "The number of tasks and their sizes, as text."
    sizes, classes = [task.n_objects for task in tasks], [task.n_classes for task in tasks]

    def span(numbers):
        return f"{min(numbers)}" if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"

    return f"{len(tasks)}, of {span(sizes)} objects in {span(classes)} classes"


def _how(args, read):
    "Provenance of the model: version, command to repeat it, and digests of the files."
    from comparison_hc import __version__

    words = ["comparison-hc", "learn", *args.tasks, "--out", args.out]
    for name in help_texts()["learn"]:
        value = getattr(args, name, None)
        if name in ("out", "journal", "jobs") or value in (None, False, []):
            continue
        if name == "labels":
            words += [word for path in value for word in ("--labels", path)]
        else:
            words += [f"--{name}", *([] if value is True else value if isinstance(value, list) else [str(value)])]
    files = {str(path): file_digest(path) for _, path in read}
    return dict(version=__version__, command=shlex.join(map(str, words)), files=files)

def new_distances(model, path, header=None, encoding="utf-8-sig"):
    "Distances and names of the objects of a new file, by the metric of the model. Raises `InputError`."
    if model.measure is None:
        rule = "a model of one metric: a file of distances holds one"
        require(model.beta is None, "--linkage", rule, str(model))
        return read_distances(path, encoding, "FILE")
    table = read_feature_table(path, header, encoding, "FILE")
    numbers = table.numbers(model.measure.columns, "FILE, for the linkage learned from these features,")
    try:
        D = model.measure.distances(numbers)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return D, table.object_names()

ANSWERS_ONLY = (  # options of `cluster` that are about answers, or about other methods
    "self_pairs questions initial majority objects columns respondent answer weight where drop_invalid "
    "missing format records support structure without"
).split()


def learned_result(args):
    "The hierarchy of a new file by a learned linkage. Raises `InputError`."
    from comparison_hc.evaluation.linkage_learning import load_model
    from comparison_hc.evaluation.report import Result

    require(isinstance(args.file, str), "FILE", "one file with --linkage", args.file)
    check_files(args, [("FILE", args.file), ("--linkage", args.linkage), ("--truth", args.truth)])
    refuse(args, ANSWERS_ONLY, "left out with --linkage, which takes no answers")
    rule = "left out with --linkage, whose file determines it"
    require(args.kind in ("triplets", None), "--kind", rule, args.kind)
    require(args.method in ("4-al", "auto", None), "--method", rule, args.method)
    together = args.clusters is not None or not args.labels_out
    require(together, "--labels-out", "given together with --clusters", args.labels_out)
    model = load_model(args.linkage, "--linkage")
    D, names = new_distances(model, args.file, HEADER[args.header], args.encoding)
    if args.clusters is not None:
        check_integer(args.clusters, "--clusters", 1, len(names))
    classes = read_truth(args.truth, names) if args.truth else None
    tree = model.hierarchy(D, names)
    notes = {"objects": f"{len(names):,}", "learned": f"in {args.linkage}, from {model.n_tasks} tasks"}
    if model.measure is not None:
        notes["features"] = str(model.measure)
    if model.held_out is not None:
        gain = f"{100 * model.held_out.gain:+.1f} points over the best fixed linkage"
        notes["gain on tasks held out"] = f"{gain}, {model.held_out.interval_words()}"
    title, papers = args.title or Path(args.file).stem, {"references": ["L20"]}
    return Result(tree, None, title, model.title, args.clusters, classes, notes, provenance=papers)
