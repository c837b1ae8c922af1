"Products of comparison matrices: every path of `core.kernels` gives the kernel of the definition."

import definitions
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_hierarchical import METHODS, instance

from comparison_hc.comparisons import Quadruplets, Triplets
from comparison_hc.core import kernels
from comparison_hc.core.kernels import rater_matrix
from comparison_hc.hierarchical import planted_hierarchy
from comparison_hc.oracles import sample_quadruplets, sample_triplets

PATHS = {  # settings that lead to each way of multiplying
    "one product": {},
    "sparse": dict(FEW_VOTES=-1, DENSE=2.0),
    "dense": dict(FEW_VOTES=-1, DENSE=0.0),
    "dense, small blocks": dict(FEW_VOTES=-1, DENSE=0.0, BLOCK=3000),
    "too many columns": dict(MOST_COLUMNS=1),
}


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from(sorted(PATHS)))
def test_the_kernel_is_the_definition_on_every_path(seed, self_pairs, path):
    _, n, rows, _ = instance(METHODS["4k-al"], seed)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PATHS[path].items():
            patch.setattr(kernels, name, value)
        found = kernels.quadruplet_kernel(Quadruplets(rows, n), self_pairs)
    assert found.dtype == np.int64
    assert np.array_equal(found, definitions.quadruplet_kernel(rows.tolist(), n, self_pairs))


@pytest.mark.parametrize("n_pure, p", [(1, 0.3), (5, 0.01), (5, 0.3), (9, 0.0005)])
def test_paths_agree_on_larger_instances_and_report_progress(n_pure, p, monkeypatch):
    "Large enough for the thread pool; with repeated answers and contradictions."
    some = sample_quadruplets(planted_hierarchy(n_pure, 3, 0.8, 0.1, 0.1, 0).similarity, p, 0)
    parts, found = (some, some.flip(0.3, 1), some.flip(0.3, 2)), {}
    answers = Quadruplets(np.concatenate([part.array for part in parts]), some.n_objects)
    for path, constants in PATHS.items():
        with monkeypatch.context() as patch:
            for name, value in constants.items():
                patch.setattr(kernels, name, value)
            calls = []
            found[path] = kernels.quadruplet_kernel(answers, True, progress=lambda *at, calls=calls: calls.append(at))
        assert calls[-1] == (answers.n_objects, answers.n_objects) and np.array_equal(found[path], found["one product"])


def test_more_references_than_16_bits_count(monkeypatch):
    "The two rows agree on every one of 70,000 references."
    from scipy.sparse import csr_array

    A = csr_array(np.ones((2, 70_000), dtype=np.int8))
    for dense in (0, 2):
        monkeypatch.setattr(kernels, "DENSE", dense)
        assert kernels.gram(A).tolist() == [[70_000] * 2] * 2


def test_every_product_of_triplets_is_the_same(monkeypatch):
    answers = sample_triplets(planted_hierarchy(5, 2, 0.8, 0.1, 0.1, 0).similarity, 2000, 0)
    A, found = rater_matrix(Triplets(answers.array, 20), True), []
    monkeypatch.setattr(kernels, "BLOCK", 100)
    for dense in (0, 2):
        monkeypatch.setattr(kernels, "DENSE", dense)
        found.append(kernels.gram(A))
    assert np.array_equal(*found)
