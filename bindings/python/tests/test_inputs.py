"""The same rows give the same model, however they are handed over."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from ldlf import KNeighborsLDL, LDLForest, MeanLDL, measures
from ldlf.datasets import make_mixture
from quick import quick
from scipy import sparse

NAMES = ["a", "b", "c", "d", "e", "f"]


def model_of(X, y):
    return quick(LDLForest).fit(X, y)


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def at_an_odd_place(array):
    """The same numbers as a field of records of 1 + n bytes, which no processor likes."""
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
    moved = raw[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


def test_arrays_at_odd_places_in_memory_are_read(distributions):
    X, y = distributions
    y, weights = y.astype(np.float64), np.linspace(1, 2, 200)
    odd = [at_an_odd_place(array) for array in (X, y, weights)]
    assert MeanLDL().fit(*odd).to_bytes() == MeanLDL().fit(X, y, weights).to_bytes()
    assert model_of(at_an_odd_place(X), y).to_bytes() == model_of(X, y).to_bytes()
    assert measures.kl(odd[1], odd[1]) == 0


@pytest.mark.parametrize(
    "form",
    [
        lambda X: X.astype(np.float64),
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
        read_only,
        lambda X: X.tolist(),
    ],
    ids=["double", "column by column", "strided", "reversed", "read-only", "lists"],
)
def test_arrays_in_any_form_give_the_same_model(form, distributions):
    X, y = distributions
    assert model_of(form(X), y).to_bytes() == model_of(X, y).to_bytes()
    np.testing.assert_array_equal(model_of(X, y).predict(form(X)), model_of(X, y).predict(X))


@pytest.mark.parametrize(
    "table",
    [
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pl.DataFrame(X, schema=NAMES),
        lambda X: pa.table({name: X[:, column] for column, name in enumerate(NAMES)}),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_tables_give_the_same_model_and_their_names(table, distributions):
    X, y = distributions
    model = model_of(table(X), y)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.predict(table(X)), model_of(X, y).predict(X))


@pytest.mark.parametrize(
    "table",
    [
        lambda X, names: pd.DataFrame(X, columns=names),
        lambda X, names: pl.DataFrame(X, schema=names),
        lambda X, names: pa.table({name: X[:, column] for column, name in enumerate(names)}),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_reordered_columns_are_refused(table, distributions):
    X, y = distributions
    model = model_of(table(X, NAMES), y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table(X, NAMES[::-1]))


@pytest.mark.parametrize("form", [pd.DataFrame, lambda y: pl.DataFrame(y, schema=list("wxyz")), lambda y: y.tolist()])
def test_labels_may_come_as_tables(form, distributions):
    X, y = distributions
    np.testing.assert_array_equal(model_of(X, form(y)).predict(X), model_of(X, y).predict(X))


def test_sparse_rows_stay_sparse_and_dense_ones_with_few_entries_become_so():
    X, y = make_mixture(300, features=200, density=0.05)
    assert sparse.issparse(X) and X.nnz < 0.1 * np.prod(X.shape)
    expected = model_of(X, y)
    assert model_of(X.toarray(), y).to_bytes() == expected.to_bytes()
    for form in (X.astype(np.float64), X.tocsc(), sparse.csr_array(X), X.tocoo()):
        assert model_of(form, y).to_bytes() == expected.to_bytes()
    np.testing.assert_allclose(expected.predict(X), expected.predict(X.toarray()), atol=1e-6)


def test_sparse_rows_out_of_order_and_with_repeats_are_summed():
    messy = sparse.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 3, 3])), shape=(2, 2))
    tidy = sparse.csr_matrix(np.array([[2.0, 4.0], [0.0, 0.0]]))
    y = [[1, 0], [0, 1]]
    assert KNeighborsLDL(neighbors=1).fit(messy, y).to_bytes() == KNeighborsLDL(neighbors=1).fit(tidy, y).to_bytes()
    assert messy.nnz == 3, "the caller's matrix is not changed"


def test_the_callers_arrays_are_not_changed(distributions):
    X, y = distributions
    before = X.copy(), y.copy()
    model_of(X, y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_alone_is_predicted_as_among_others_and_checked_as_they_are(distributions, dtype):
    X, y = distributions
    X = X.astype(dtype)
    model = quick(LDLForest).fit(X, y)
    together = model.predict(X)
    np.testing.assert_array_equal(np.vstack([model.predict(X[row : row + 1]) for row in range(40)]), together[:40])
    np.testing.assert_array_equal(model.predict(X[3:4].tolist()), together[3:4])
    with pytest.raises(ValueError, match="X has 5 features, but LDLForest is expecting 6"):
        model.predict(X[:1, :5])
    with pytest.raises(ValueError, match="Input X contains NaN in row 0, column 2"):
        model.predict(np.where(np.arange(6) == 2, np.nan, X[:1]).astype(dtype))
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.full((1, 6), np.inf, dtype=dtype))
    named = quick(LDLForest).fit(pd.DataFrame(X, columns=list("abcdef")), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        named.predict(X[:1])
