"Runs in a browser's worker: `comparison-hc cluster` on the file of a reader."

import argparse
import json
import shlex
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path


def example():
    "Simulated answers about 24 animals, one per row."
    from comparison_hc.datasets import load_dataset

    answers = load_dataset("animals").triplets
    rows = [",".join(answers.object_names[i] for i in row) for row in answers.array.tolist()]
    return ("\n".join(["i,j,k", *rows]) + "\n").encode()


def cluster(name, data, options):
    "(whether it worked, what the command printed or why it failed, the report as HTML)."
    from comparison_hc.cli.cluster import add_cluster

    parser = argparse.ArgumentParser(prog="comparison-hc")
    add_cluster(parser.add_subparsers())
    printed = StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(printed), redirect_stderr(printed):
        source, target = Path(folder, Path(name).name[-100:].lstrip(".") or "file"), Path(folder, "out", "tree.html")
        target.parent.mkdir()
        try:
            source.write_bytes(data)
            args = parser.parse_args(["cluster", str(source), "--out", str(target), *shlex.split(options)])
            args.run(args)
            return True, printed.getvalue().replace(f"wrote {target}\n", ""), target.read_text(encoding="utf-8")
        except (ImportError, OSError, ValueError, MemoryError) as error:
            return False, f"{error or type(error).__name__}".replace(f"{folder}/", ""), ""
        except SystemExit:
            return False, printed.getvalue().strip().splitlines()[-1], ""


def begin(_, publish):
    "A function of requests {name, data, options}; without data: of the example."

    def answer(request):
        data = bytes(request["data"]) if request.get("data") is not None else example()
        worked, printed, page = cluster(request["name"], data, request["options"])
        publish(json.dumps(dict(kind="tree", worked=worked, printed=printed, page=page, name=request["name"])))

    return answer
