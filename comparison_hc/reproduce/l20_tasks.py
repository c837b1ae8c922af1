"""Pictures and pen paths become distances; random tasks from rings and disks, digits, photographs, letters."""

from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from ..core.validation import as_rng, check_labels
from ..datasets import load_dataset
from ..link.merge import rings_and_disks


def _unit_rows(rows):
    "Rows of length 1; those of nothing but 0 stay."
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def train_network(images, labels, units=(256, 128), epochs=20):
    "Train on digits (scikit-learn's `MLPClassifier`, Adam, seed 0, one thread), numbered as they come."
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the epochs are meant
        learner = MLPClassifier(units, max_iter=epochs, random_state=0)
        return learner.fit(np.reshape(images, (len(images), -1)) / 255, check_labels(labels, len(images)))


def hidden_features(network, images):
    "The last hidden layer of a network, as rows of length 1."
    values = images.reshape(len(images), -1) / 255
    for W, b in zip(network.coefs_[:-1], network.intercepts_[:-1]):
        values = np.maximum(values @ W + b, 0)
    return _unit_rows(values)


_SIDE, _SIZE, _FINE = 20, 28, 4  # a digit's longer side and its picture's, in pixels; parts of a pixel


def drawn_like_digit(mask, radius):
    "Scale a drawing to 20 pixels, thicken its lines, and centre it by mass, as MNIST's digits are."
    from PIL import Image
    from scipy.ndimage import binary_dilation, center_of_mass

    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    box = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = (_SIDE * _FINE - 2 * radius) / max(box.shape)
    height, width = (max(1, round(side * scale)) for side in box.shape)
    grey = Image.fromarray(np.uint8(255 * box)).resize((width, height), Image.Resampling.BILINEAR)
    pen = np.hypot(*np.mgrid[-radius : radius + 1, -radius : radius + 1]) <= radius
    ink = binary_dilation(np.pad(np.asarray(grey) >= 128, radius), pen)
    down, right = center_of_mass(ink)
    room = np.zeros((3 * _SIZE * _FINE,) * 2)
    top, left = (round(room.shape[0] / 2 - middle) for middle in (down, right))
    room[top : top + len(ink), left : left + ink.shape[1]] = ink
    inner = room[_SIZE * _FINE : 2 * _SIZE * _FINE, _SIZE * _FINE : 2 * _SIZE * _FINE]
    return 255 * inner.reshape(_SIZE, _FINE, _SIZE, _FINE).mean(axis=(1, 3))


PEN = 2  # quarters of a pixel


class Patches(NamedTuple):
    "What was learned from patches."

    mean: np.ndarray  # of patches
    whitening: np.ndarray  # makes their coordinates uncorrelated
    typical: np.ndarray  # (k, w · w · 3) typical whitened patches

    def white(self, patches):
        "Equally bright, contrasty and uncorrelated."
        return (_even(patches) - self.mean) @ self.whitening


def _even(patches):
    "Patches of mean 0 and about equal contrast."
    patches = patches - patches.mean(axis=1, keepdims=True)
    return patches / np.sqrt(patches.var(axis=1, keepdims=True) + 10)


def _windows(image, width):
    "((H − w + 1)(W − w + 1), w · w · 3) all patches of a picture."
    views = np.lib.stride_tricks.sliding_window_view(np.asarray(image, dtype=float), (width, width), axis=(0, 1))
    return views.reshape(views.shape[0] * views.shape[1], -1)


def learn_patches(images, n_typical=36, per_image=20, width=6):
    "K-means of whitened patches (Coates and Ng 2012; seed 0, one thread)."
    from sklearn.cluster import MiniBatchKMeans
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    drawn = [rng.permutation(_windows(image, width))[:per_image] for image in images]
    even = _even(np.concatenate(drawn))
    mean = even.mean(axis=0)
    with threadpool_limits(1):
        values, vectors = np.linalg.eigh(np.cov((even - mean).T))
        whitening = vectors / np.sqrt(values + 0.1) @ vectors.T
        learner = MiniBatchKMeans(n_typical, batch_size=2000, max_iter=50, n_init=1, random_state=0)
        typical = learner.fit((even - mean) @ whitening).cluster_centers_
    return Patches(mean, whitening, typical)


def patch_features(images, patches):
    "In each quarter of a picture: how much nearer than the mean each typical patch is, added up."
    from scipy.spatial.distance import cdist

    width, rows = round(np.sqrt(len(patches.mean) / 3)), []
    for image in images:
        D = cdist(patches.white(_windows(image, width)), patches.typical)
        near = np.maximum(D.mean(axis=1, keepdims=True) - D, 0)
        near = near.reshape(image.shape[0] - width + 1, image.shape[1] - width + 1, -1)
        quarters = [half for part in np.array_split(near, 2) for half in np.array_split(part, 2, axis=1)]
        rows.append(np.concatenate([quarter.sum(axis=(0, 1)) for quarter in quarters]))
    rows = np.array(rows)
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def edge_histograms(images, cells, directions=9):
    "How strong the edges of every direction are in every cell of images (m, H, W), whose sides the cells divide."
    m, height, width = images.shape
    down, right = np.gradient(images.astype(float), axis=(1, 2))
    place = (np.arctan2(down, right) % np.pi * directions / np.pi).astype(np.int64) % directions
    bins = np.stack([np.where(place == d, np.hypot(down, right), 0) for d in range(directions)], axis=-1)
    sums = bins.reshape(m, cells, height // cells, cells, width // cells, directions).sum(axis=(2, 4))
    return _unit_rows(sums.reshape(m, -1))


def stroke_distances(paths):
    "Average distance from a point of either path, (T, 2), to the nearest of the other (L20, section 4)."
    from scipy.spatial.distance import cdist

    sizes = np.array([len(path) for path in paths])
    points = np.concatenate(paths).astype(float)
    sums = np.zeros((len(paths), len(paths)))
    starts = np.cumsum(sizes) - sizes
    for i in range(len(paths) - 1):
        others, begin = starts[i + 1 :] - starts[i + 1], starts[i + 1]
        squares = cdist(points[starts[i] : begin], points[begin:], "sqeuclidean")
        there = np.sqrt(np.minimum.reduceat(squares, others, axis=1)).sum(axis=0)
        sums[i, i + 1 :] = there + np.add.reduceat(np.sqrt(squares.min(axis=0)), others)
    upper = sums / (sizes[:, None] + sizes)
    return upper + upper.T


def cosine_distances(rows):
    "1 − cosine of the angle between rows of length 1, or 0."
    D = np.clip(1 - rows @ rows.T, 0, 2)
    np.fill_diagonal(D, 0)
    return (D + D.T) / 2


_loaded = cache(load_dataset)


def _draw(labels, classes, per_class, rng):
    "Objects of these classes, equally many of each, drawn without replacement."
    return np.concatenate([rng.choice(np.flatnonzero(labels == c), per_class, replace=False) for c in classes])


def _euclidean(points):
    "Distances between all points."
    from scipy.spatial.distance import cdist

    return cdist(points, points)


def _rings(per_class, rng):
    points, labels = rings_and_disks(4 * per_class, rng)
    return {"Euclidean": _euclidean(points)}, labels


def _mnist(per_class, rng):
    mnist = _loaded("mnist")
    chosen = _draw(mnist.labels, rng.choice(10, 5, replace=False), per_class, rng)
    return {"pixels": _euclidean(mnist.features[chosen])}, mnist.labels[chosen]


@cache
def _cifar_features():
    images = np.asarray(_loaded("cifar10").images)
    return patch_features(images, learn_patches(images))


def _cifar(per_class, rng):
    labels = _loaded("cifar10").labels
    chosen = _draw(labels, rng.choice(10, 5, replace=False), per_class, rng)
    return {"patches": _euclidean(_cifar_features()[chosen])}, labels[chosen]


@cache
def _network():
    mnist = _loaded("mnist")
    return train_network(mnist.images, mnist.labels)


@cache
def _drawing(i):
    "Drawing number i, drawn like a digit."
    return drawn_like_digit(_loaded("omniglot").images[i], PEN)


@cache
def _between_letters(a, b):
    "(drawings of letter a, of letter b) stroke distances."
    omniglot = _loaded("omniglot")
    numbers = [np.flatnonzero(omniglot.labels == letter).tolist() for letter in sorted({a, b})]
    paths = [np.concatenate(omniglot.extra["strokes"][i])[:, :2] for own in numbers for i in own]
    return stroke_distances(paths)[: len(numbers[0]), -len(numbers[-1]) :]


def _strokes_of(letters, chosen):
    "Stroke distances of drawings, given as {letter: their numbers among its own}."
    sizes = [len(chosen[a]) for a in letters]
    ends = np.cumsum([0, *sizes])
    D = np.zeros((ends[-1], ends[-1]))
    for i, j in combinations_with_replacement(range(len(letters)), 2):
        a, b = sorted((letters[i], letters[j]))
        block = _between_letters(a, b)
        block = block if a == letters[i] else block.T
        block = block[np.ix_(chosen[letters[i]], chosen[letters[j]])]
        D[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = block
        D[ends[j] : ends[j + 1], ends[i] : ends[i + 1]] = block.T
    return D


def _omniglot(per_class, rng):
    omniglot = _loaded("omniglot")
    alphabet = omniglot.extra["alphabet"] == rng.integers(len(omniglot.extra["alphabet_names"]))
    known = np.unique(omniglot.labels[alphabet])
    letters = rng.choice(known, rng.integers(5, 11), replace=False).tolist()
    chosen = _draw(omniglot.labels, letters, per_class, rng)
    drawings = np.array([_drawing(i) for i in chosen.tolist()])
    places = [
        np.searchsorted(np.flatnonzero(omniglot.labels == a), own)
        for a, own in zip(letters, chosen.reshape(-1, per_class))
    ]
    both = {
        "strokes": _strokes_of(letters, dict(zip(letters, places))),
        "network": cosine_distances(hidden_features(_network(), drawings)),
    }
    return {name: D / D.mean() for name, D in both.items()}, omniglot.labels[chosen]


TASKS = {"rings and disks": _rings, "MNIST": _mnist, "CIFAR-10": _cifar, "Omniglot": _omniglot}


def linkage_task(dataset, per_class, rng):
    "One random task of L20's experiments. Raises `DatasetNotFoundError` without the data."
    return TASKS[dataset](per_class, as_rng(rng))


def _five_classes(labels, n, rng):
    return _draw(labels, rng.choice(np.unique(labels), 5, replace=False), n // 5, rng)


def _pixel_distances(images):
    return _euclidean(np.array([np.asarray(image, dtype=float).ravel() for image in images]))


def _pictures(name):
    "A task of n pictures of five classes."

    def task(n, rng):
        found = load_dataset(name, download=False)
        chosen = _five_classes(found.labels, n, rng)
        return _pixel_distances(np.asarray(found.images)[chosen]), found.labels[chosen]

    return task


def _drawings(n, rng):
    "A task of n drawings of five letters of one alphabet: two metrics."
    found = load_dataset("omniglot", download=False)
    of_one = np.flatnonzero(found.extra["alphabet"] == rng.choice(np.unique(found.extra["alphabet"])))
    chosen = of_one[_five_classes(found.labels[of_one], n, rng)]
    paths = [np.concatenate(found.extra["strokes"][i])[:, :2] for i in chosen.tolist()]
    return (stroke_distances(paths), _pixel_distances(found.images[i] for i in chosen.tolist())), found.labels[chosen]


def bring_pictures():
    "Give the theory's count of pieces the tasks that need data. Nothing is downloaded."
    from comparison_hc.theory.l20_execution import DISTRIBUTIONS

    DISTRIBUTIONS.update(
        {
            "MNIST": (_pictures("mnist"), (25, 50, 100), (25, 50, 100, 200, 400)),
            "CIFAR-10": (_pictures("cifar10"), (25, 50, 100), (25, 50, 100, 200)),
            "Omniglot": (_drawings, (25, 50), (25, 50, 100)),
        }
    )
