"""Soft ordinal embedding (Terada and von Luxburg 2014): points that keep a margin of one in every triplet."""

import numpy as np

from ..core.compat import bincount
from ..core.weights import each_weight


def soe_loss(points, rows, weights):
    "(loss, gradient): weighted sum of max(0, d_ij − d_ik + 1)² over the triplets (i, j, k)."
    i, j, k = rows.T
    near, far = points[i] - points[j], points[i] - points[k]
    d_near, d_far = (np.maximum(np.linalg.norm(each, axis=1), 1e-12) for each in (near, far))
    excess = np.maximum(d_near - d_far + 1, 0)
    pull = (2 * weights * excess / d_near)[:, None] * near
    push = (2 * weights * excess / d_far)[:, None] * far
    gradient = np.zeros_like(points)
    for objects, change in ((i, pull - push), (j, -pull), (k, push)):
        for axis in range(points.shape[1]):
            gradient[:, axis] += bincount(objects, change[:, axis], len(points))
    return float(weights @ excess**2), gradient


def soe(triplets, rng, n_starts=3, n_dimensions=2):
    "(N, d) points with the smallest loss of several random starts."
    from scipy.optimize import minimize

    rows, weights = triplets.array.astype(np.intp), each_weight(triplets).astype(float)
    shape = triplets.n_objects, n_dimensions

    def loss(x):
        value, gradient = soe_loss(x.reshape(shape), rows, weights)
        return value, gradient.ravel()

    starts = (rng.normal(size=shape) for _ in range(n_starts))
    found = [minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=dict(maxiter=1000)) for start in starts]
    return min(found, key=lambda each: each.fun).x.reshape(shape)
