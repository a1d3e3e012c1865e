"""The measures of distributions as `ldlf` defines them: single-precision rows, sums and means in double precision."""

import numpy

Array = numpy.ndarray

SMALLEST_PROBABILITY = 1e-12


def mean_kl(truth: Array, predicted: Array) -> float:
    """The mean of `sum_c d_c ln(d_c / p_c)`, `p` floored at 1e-12."""
    floored = numpy.maximum(predicted, SMALLEST_PROBABILITY)
    quotient = numpy.divide(truth, floored, out=numpy.ones_like(floored), where=truth > 0)
    return float((truth * numpy.log(quotient)).sum(axis=1).mean())


def score(truth: Array, predicted: Array) -> dict[str, float]:
    """Every measure of `ldlf cv --json` that does not need ordered labels, averaged over the rows."""
    d, p = (side.astype(numpy.float32).astype(numpy.float64) for side in (truth, predicted))
    gap, total = numpy.abs(d - p), d + p
    share = ratio(gap, total)
    rows = {
        "euclidean": numpy.sqrt((gap**2).sum(axis=1)),
        "sorensen": ratio(gap.sum(axis=1), total.sum(axis=1)),
        "squared_chi2": ratio(gap**2, total).sum(axis=1),
        "fidelity": numpy.sqrt(d * p).sum(axis=1),
        "intersection": numpy.minimum(d, p).sum(axis=1),
        "chebyshev": gap.max(axis=1),
        "clark": numpy.sqrt((share**2).sum(axis=1)),
        "canberra": share.sum(axis=1),
        "cosine": ratio((d * p).sum(axis=1), numpy.sqrt((d**2).sum(axis=1) * (p**2).sum(axis=1))),
    }
    return {"kl": mean_kl(d, p), **{name: float(values.mean()) for name, values in rows.items()}}


def ratio(a: Array, b: Array) -> Array:
    """`a / b`, with `0 / 0 = 0`."""
    return numpy.divide(a, b, out=numpy.zeros_like(a), where=b != 0)
