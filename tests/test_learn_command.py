"The commands `learn` and `cluster --linkage`, end to end."

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shared import as_task, refused, run, task_table

from comparison_hc.core.validation import InputError
from comparison_hc.evaluation import learn_model, load_model
from comparison_hc.evaluation._task_tables import Task, read_feature_tasks


@pytest.fixture
def files(tmp_path, monkeypatch):
    "Five tasks as CSV files in the working folder."
    monkeypatch.chdir(tmp_path)
    names = [f"task {seed}.csv" for seed in range(5)]
    for seed, name in enumerate(names):
        task_table(seed).to_csv(name, index=False)
    return names


def test_learn_and_cluster(files, capsys):
    code, out, err = run(capsys, "learn", *files[:4], "--out", "model.json")
    assert code == 0 and err == ""
    for words in ("4, of 24 objects in 4 classes", "x, y (euclidean", "column 'kind' (the last column)", "wrote model"):
        assert words in out
    assert "held out once" in out and "without an interval" in out and "always average" in out
    one = load_model("model.json")
    tasks = [Task(name, *as_task(task_table(seed))) for seed, name in enumerate(files[:4])]
    assert one == learn_model(tasks, measure=one.measure, how=one.how)
    assert set(one.how["files"]) == set(files[:4]) and len(one.how["files"][files[0]]) == 64
    typed = "comparison-hc learn " + " ".join(map(repr, files[:4])) + " --out model.json"
    assert one.how["command"].startswith(typed)
    new = task_table(4)[["y", "x"]]  # another order, no classes
    new.insert(0, "id", [f"thing {i}" for i in range(24)])
    new.to_csv("new.csv", index=False)
    written = [word for end in ("html", "nwk", "json", "csv") for word in ("--out", f"tree.{end}")]
    words = ["cluster", "new.csv", "--linkage", "model.json", "--clusters", 3, "--labels-out", "labels.csv", *written]
    code, out, err = run(capsys, *words)
    assert code == 0 and err == "" and "α = " in out and "gain on tasks held out" in out and "x, y" in out
    tree = one.hierarchy(as_task(task_table(4))[0])
    data = json.loads(Path("tree.json").read_text())
    assert data["linkage"] == tree.linkage_matrix.tolist() and data["names"][:2] == ["thing 0", "thing 1"]
    assert len(pd.read_csv("labels.csv")) == 24 and pd.read_csv("labels.csv")["cluster"].nunique() == 3
    assert "thing 7" in Path("tree.html").read_text()


def test_distances_and_their_classes(files, capsys):
    for seed in range(3):
        D, labels = as_task(task_table(seed))
        names = [f"o{i}" for i in range(24)]
        pd.DataFrame(D, names, names).to_csv(f"D{seed}.csv")
        pd.DataFrame({"object": names, "class": labels}).to_csv(f"L{seed}.csv", index=False)
    labels = [word for seed in range(2) for word in ("--labels", f"L{seed}.csv")]
    assert run(capsys, "learn", "D0.csv", "D1.csv", *labels, "--out", "m.json")[0] == 0
    assert load_model("m.json").measure is None
    by_features = learn_model([as_task(task_table(seed)) for seed in range(2)])
    assert load_model("m.json").alpha == by_features.alpha
    code, out, _ = run(capsys, "cluster", "D2.csv", "--linkage", "m.json", "--truth", "L2.csv", "--clusters", 4)
    assert code == 0 and "adjusted Rand index" in out
    assert "the number of files given by --labels" in refused(
        capsys, "learn", "D0.csv", "D1.csv", "--labels", "L0.csv", "--out", "m.json"
    )
    assert "--label" in refused(capsys, "learn", "D0.csv", "--labels", "L0.csv", "--label", "a", "--out", "m.json")


def test_two_groups_of_features(files, capsys):
    for seed, name in enumerate(files[:3]):
        task_table(seed).assign(z=np.random.default_rng(seed).random(24)).to_csv(name, index=False)
    words = ["learn", *files[:3], "--label", "kind", "--metrics", "x,y", "z", "--out", "m.json"]
    assert run(capsys, *words)[0] == 0
    one = load_model("m.json")
    assert one.alpha is None and one.merges == ("complete",) and one.measure.groups == (("x", "y"), ("z",))
    assert "complete on both in equal parts" in one.held_out.fixed
    assert run(capsys, *words, "--both", "--merges", "average,complete", "--scale", "column")[0] == 0
    two = load_model("m.json")
    assert two.alpha is not None and two.beta is not None and two.measure.scale == "column"
    assert run(capsys, "cluster", files[0], "--linkage", "m.json", "--header", "yes")[0] == 0


def test_a_feature_is_a_number_as_other_programs_write_it(files, capsys):
    task_table(0).assign(z=["1_0", *range(23)]).to_csv(files[0], index=False)
    assert "a finite number" in refused(
        capsys, "learn", files[0], "--features", "x,z", "--label", "kind", "--out", "m.json"
    )


def test_one_task_says_so(files, capsys):
    code, out, _ = run(capsys, "learn", files[0], "--out", "m.json")
    assert code == 0 and "One task only" in out and "held out once" not in out
    assert load_model("m.json").held_out is None
    code, out, _ = run(capsys, "cluster", files[1], "--linkage", "m.json")
    assert code == 0 and "gain" not in out


BAD_FILES = {  # a second task: what the message must say
    "one class": ("x,y,kind\n0,0,a\n1,1,a\n", "bad.csv, column 'kind', must be of at least two classes"),
    "a missing number": ("x,y,kind\n0,0,a\n1,,b\n", "bad.csv, line 3, column 'y', must be a finite number"),
    "NaN": ("x,y,kind\n0,0,a\n1,nan,b\n", "bad.csv, line 3, column 'y', must be a finite number"),
    "infinity": ("x,y,kind\ninf,0,a\n1,1,b\n", "bad.csv, line 2, column 'x', must be a finite number"),
    "a text": ("x,y,kind\n0,0,a\n\n1,far,b\n", "bad.csv, line 4, column 'y', must be a finite number"),
    "no class": ("x,y,kind\n0,0,a\n1,1,NA\n", "bad.csv, line 3, column 'kind', must be the class"),
    "another column": ("x,z,kind\n0,0,a\n1,1,b\n", "bad.csv, line 1, must be made of the columns of task 0.csv"),
    "one more": ("x,y,z,kind\n0,0,0,a\n1,1,1,b\n", "bad.csv, line 1, must be made of the columns of task 0.csv"),
    "a short line": ("x,y,kind\n0,0,a\n1,b\n", "bad.csv, line 3, must be 3 cells"),
    "one object": ("x,y,kind\n0,0,a\n", "bad.csv must be a table of at least two objects"),
    "a column twice": ("x,x,kind\n0,0,a\n1,1,b\n", "bad.csv, line 1, must be made of different column names"),
    "nothing": ("", "bad.csv must be a table of features"),
    "too large": ("x,y,kind\n1e200,0,a\n-1e200,1,b\n", "bad.csv: features must be so small"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_tables_are_refused_with_file_and_line(files, capsys, kind):
    content, words = BAD_FILES[kind]
    Path("bad.csv").write_text(content)
    assert words in refused(capsys, "learn", files[0], "bad.csv", "--out", "m.json")
    assert not Path("m.json").exists()


def test_words_that_do_not_fit(files, capsys):
    learn = ["learn", *files[:2]]
    assert "--out" in refused(capsys, *learn)
    assert "--out" in refused(capsys, *learn, "--out", "m.txt")
    assert "another file than TASK" in refused(capsys, "learn", "t.json", "--out", "t.json")
    assert "--both" in refused(capsys, *learn, "--both", "--out", "m.json")
    assert "--merges" in refused(capsys, *learn, "--merges", "single", "--out", "m.json")
    assert "--merges" in refused(capsys, *learn, "--merges", "single,ward", "--out", "m.json")
    assert "--features" in refused(capsys, *learn, "--features", "x,kind", "--out", "m.json")
    assert "--label" in refused(capsys, *learn, "--label", "nosuch", "--out", "m.json")
    assert "TASK" in refused(capsys, "learn", "", "--out", "m.json")
    assert "nosuch.csv" in refused(capsys, "learn", "nosuch.csv", "--out", "m.json")
    assert run(capsys, *learn, "--out", "m.json")[0] == 0
    cluster = ["cluster", files[2], "--linkage", "m.json"]
    for option in (["--majority"], ["--kind", "quadruplets"], ["--method", "adds"], ["--questions", "5"]):
        assert option[0] in refused(capsys, *cluster, *option)
    assert "--clusters" in refused(capsys, *cluster, "--clusters", "25")
    assert "--labels-out" in refused(capsys, *cluster, "--labels-out", "l.csv")
    assert "another file than --linkage" in refused(capsys, *cluster, "--out", "m.json")
    Path("other.csv").write_text("x,z\n0,0\n1,1\n")
    assert "one of the columns ['x', 'z'] of other.csv; got 'y'" in refused(
        capsys, "cluster", "other.csv", "--linkage", "m.json"
    )
    Path("twice.csv").write_text("id,x,y\na,0,0\na,1,1\n")
    assert "twice.csv, line 3, column 'id'" in refused(capsys, "cluster", "twice.csv", "--linkage", "m.json")
    Path("m.json").write_text("{}")
    assert "m.json, key 'what'" in refused(capsys, *cluster)


def test_columns_without_names(files, capsys):
    for name in files[:2]:
        frame = pd.read_csv(name)
        frame.to_csv(f"bare {name}", index=False, header=False)
    code, out, _ = run(capsys, "learn", *[f"bare {name}" for name in files[:2]], "--out", "m.json")
    assert code == 0 and "column '2' (the last column)" in out
    assert load_model("m.json").alpha == learn_model([as_task(task_table(seed)) for seed in range(2)]).alpha


def test_a_named_class_column_need_not_be_last(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Class,x,name\na,0,p\nb,1,q\n")
    found = read_feature_tasks([path])
    assert found.tasks[0].labels == ("a", "b") and found.measure.columns == ("x",)
    assert "'name'" in found.notes["not used"]
    path.write_text("class,x,label\na,0,p\nb,1,q\n")
    with pytest.raises(InputError, match="--label"):
        read_feature_tasks([path])


def test_a_journal_continues(files, capsys):
    words = ["learn", *files[:3], "--journal", "curves.jsonl"]
    assert run(capsys, *words, "--out", "a.json")[0] == 0
    size = os.path.getsize("curves.jsonl")
    assert run(capsys, *words, "--out", "b.json")[0] == 0 and os.path.getsize("curves.jsonl") == size
    one, other = (load_model(name) for name in ("a.json", "b.json"))
    assert one.alpha == other.alpha and one.held_out == other.held_out
