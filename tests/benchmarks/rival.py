"""Points by cblearn, in any interpreter that has it: `PYTHON rival.py CLASS N < triplets.json`, or `PYTHON rival.py`.

The first prints points in the plane and seconds of processor time, the second the classes that can be fitted.
"""

import json
import sys
from importlib.util import find_spec
from time import process_time

CLASSES = ("SOE", "STE", "TSTE", "CKL", "GNMDS")
OF_TORCH = ("FORTE", "OENN", "LORE")


def installed():
    "Classes of cblearn.embedding; none without cblearn."
    if find_spec("cblearn") is None:
        return []
    return [*CLASSES, *(OF_TORCH if find_spec("torch") else ())]


def embedded(name, n_objects, rows):
    "(points, seconds) of rows (i, j, k): i is closer to j than to k."
    import cblearn.embedding
    import numpy as np

    model = getattr(cblearn.embedding, name)(n_components=2, random_state=0)
    began = process_time()
    points = model.fit(np.array(rows), n_objects=n_objects).embedding_
    return points.tolist(), process_time() - began


if __name__ == "__main__":
    what = embedded(sys.argv[1], int(sys.argv[2]), json.load(sys.stdin)) if sys.argv[1:] else installed()
    json.dump(what, sys.stdout)
