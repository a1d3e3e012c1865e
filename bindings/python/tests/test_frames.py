"""Tables as they are: categories, texts, booleans, dates and missing values, by the rules of the command."""

import ldlf
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from ldlf import LDLForest, MeanLDL, RandomForestLDL
from quick import quick
from scipy import sparse

COLOURS = ["red", "green", "blue"]


@pytest.fixture(scope="module")
def data():
    """Colours decide the label; a number has gaps, a flag and a date are beside it."""
    draws = np.random.default_rng(0)
    colour = draws.integers(3, size=240)
    size = draws.normal(size=240)
    size[::7] = np.nan
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical([COLOURS[c] for c in colour]),
            "size": size,
            "member": draws.integers(2, size=240).astype(bool),
            "since": pd.Timestamp("2020-01-31") + pd.to_timedelta(draws.integers(900, size=240), unit="D"),
            "town": np.where(draws.random(240) < 0.1, None, np.array(["Bonn", "Ulm"])[draws.integers(2, size=240)]),
        }
    )
    return frame, np.eye(3)[colour] * 8 + 1


FORMS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "polars lazily": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_tables_of_every_library_give_the_same_model(form, data):
    frame, votes = data
    model = quick(RandomForestLDL).fit(form(frame), votes)
    assert model.feature_names_in_.tolist() == list(frame.columns) and model.n_features_in_ == 5
    assert model.to_bytes() == quick(RandomForestLDL).fit(frame, votes).to_bytes()
    np.testing.assert_array_equal(model.predict(form(frame)), model.predict(frame))
    assert (model.predict(form(frame)).argmax(axis=1) == votes.argmax(axis=1)).mean() > 0.9


def test_what_training_decided_is_kept_in_the_file(data, tmp_path):
    frame, votes = data
    model = quick(LDLForest).fit(frame, votes)
    model.save(tmp_path / "model.ldlf")
    loaded = ldlf.load(tmp_path / "model.ldlf")
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    shuffled = frame[["town", "since", "member", "size", "colour"]].assign(key=1)
    for rows in (frame, shuffled, frame.iloc[:1], frame.iloc[:0]):
        np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    found = loaded.predict_frame(shuffled, keep=["key"])
    np.testing.assert_array_equal(found.iloc[:, 1:].to_numpy(), model.predict(frame))
    batches = loaded.predict_batches(pa.Table.from_pandas(shuffled), keep=["key"], batch_rows=50).read_all()
    np.testing.assert_allclose(np.column_stack(batches.columns[1:]), model.predict(frame), atol=1e-6)


def test_a_value_that_training_did_not_have_is_said_and_predicted(data):
    frame, votes = data
    model = quick(RandomForestLDL).fit(frame, votes)
    with pytest.warns(UserWarning, match="colour"):
        found = model.predict(frame.iloc[:2].assign(colour="mauve"))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


def test_identifiers_are_left_out_and_said():
    frame = pd.DataFrame(
        {"id": [f"user-{n}" for n in range(60)], "x": np.linspace(0, 1, 60), "y": ["a", "b", "c"] * 20}
    )
    with pytest.warns(UserWarning, match="column 'id' is left out: every value is different"):
        model = MeanLDL().fit(frame, np.ones((60, 2)))
    assert model.feature_names_in_.tolist() == ["x", "y"]


def test_what_no_column_may_hold_is_refused_by_its_name(data):
    frame, votes = data
    model = quick(RandomForestLDL).fit(frame, votes)
    with pytest.raises(ValueError, match='no column "size", which the model needs'):
        model.predict(frame.drop(columns=["size"]))
    with pytest.raises(ValueError, match="trained on a table with named columns .*'colour'"):
        model.predict(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="column 'size' of X holds timedelta"):
        model.fit(frame.assign(size=pd.to_timedelta(1, unit="s")), votes)
    with pytest.raises(ValueError, match="column 'size' of X holds a list per row"):
        model.fit(frame.assign(size=[[1, 2]] * 240), votes)
    with pytest.raises(ValueError, match="X has two columns named 'a'; rename one"):
        MeanLDL().fit(pd.DataFrame(np.zeros((3, 2)), columns=["a", "a"]), np.ones((3, 2)))


def test_missing_values_of_arrays_are_named_by_their_place(distributions):
    X, y = distributions
    holed = X.copy()
    holed[3, 2] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN in row 3, column 2; fill it, or fit on a table"):
        MeanLDL().fit(holed, y)
    model = MeanLDL().fit(pd.DataFrame(X, columns=list("abcdef")), y)
    with pytest.raises(ValueError, match="NaN in row 3, column 'c'; the training rows had no missing values"):
        model.predict(pd.DataFrame(holed, columns=list("abcdef")))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    ("values", "said"),
    [("x", "the text 'x'"), (pd.Timestamp("2020-01-31"), "(datetime|Datetime|timestamp).*")],
    ids=["text", "dates"],
)
def test_a_column_that_is_no_number_any_more_is_named(form, values, said, distributions):
    X, y = distributions
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = MeanLDL().fit(frame, y)
    sentence = f"column 'c' of X holds {said}, where the training rows had numbers"
    with pytest.raises(ValueError, match=sentence):
        model.predict(form(frame.assign(c=values)))
    with pytest.raises(ValueError, match=sentence):
        model.predict_frame(frame.assign(c=values))
    # Nanoseconds are numbers too, but not those of the training rows.
    with pytest.raises(ValueError, match="column 'a' of X holds datetime"):
        model.predict(pd.DataFrame({name: pd.Timestamp("2020-01-31") for name in "abcdef"}, index=range(2)))


def test_numbers_without_bounds_are_named_by_their_place(distributions):
    X, y = distributions
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.loc[7, "d"] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity in row 7, column 'd'; replace it"):
        MeanLDL().fit(frame, y)


def test_sparse_columns_stay_sparse_or_are_numbers(distributions):
    X, y = distributions
    few = sparse.random(200, 30, 0.05, "csr", random_state=0)
    frame = pd.DataFrame.sparse.from_spmatrix(few).add_prefix("x")
    assert quick(LDLForest).fit(frame, y).to_bytes() == quick(LDLForest).fit(frame.sparse.to_dense(), y).to_bytes()
    mixed = frame.assign(colour=["red", "blue"] * 100)
    model = quick(RandomForestLDL).fit(mixed, y)
    dense = quick(RandomForestLDL).fit(frame.sparse.to_dense().assign(colour=mixed["colour"]), y)
    assert model.to_bytes() == dense.to_bytes()


def test_what_is_no_table_leads_to_what_reads_it(distributions):
    X, y = distributions
    with pytest.raises(
        ValueError, match="X is the path 'table.csv', where rows are needed: read the table with pandas"
    ):
        MeanLDL().fit("table.csv", y)
    with pytest.raises(ValueError, match="Found array with dim 4.*Images are learnt by ldlf.DeepLDLForest"):
        MeanLDL().fit(np.zeros((200, 4, 4, 3)), y)


def test_numbers_alone_are_read_as_ever(distributions):
    X, y = distributions
    plain = pd.DataFrame(X, columns=list("abcdef"))
    model = MeanLDL().fit(plain.assign(flag=X[:, 0] > 0), y)
    assert model._columns is None and model.n_features_in_ == 7


def test_a_column_of_categories_has_one_importance_and_the_page_names_its_features(data, tmp_path):
    frame, votes = data
    model = quick(RandomForestLDL).fit(frame, votes)
    assert model.feature_importances_.shape == (5,) and model.feature_importances_.argmax() == 0
    model.report(tmp_path / "model.html", frame, votes)
    assert "colour" in (tmp_path / "model.html").read_text()
