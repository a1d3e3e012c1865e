"""Tables as they are: categories, texts, booleans, dates and missing values, by the rules of the command."""

import warnings

import ldlf
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from ldlf import LDLForest, MeanLDL, RandomForestLDL
from quick import quick
from scipy import sparse
from sklearn.preprocessing import StandardScaler

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
    model = MeanLDL().fit(X, y)
    with pytest.raises(ValueError, match="NaN in row 3, column 2; the training rows had no missing values"):
        model.predict(holed)


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
    sparse_one, dense_one = quick(LDLForest).fit(frame, y), quick(LDLForest).fit(frame.sparse.to_dense(), y)
    np.testing.assert_array_equal(sparse_one.predict(frame), dense_one.predict(frame.sparse.to_dense()))
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


@pytest.fixture
def plain(distributions):
    """Numbers with names and a flag, and a column that counts the rows."""
    X, y = distributions
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(flag=X[:, 0] > 0)
    frame.insert(3, "id", np.arange(len(X)))
    return frame, y


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_numbers_alone_follow_the_same_rules(form, plain, tmp_path):
    frame, y = plain
    with pytest.warns(UserWarning, match="column 'id' is left out: a running number"):
        model = quick(RandomForestLDL).fit(form(frame), y)
    used = frame.drop(columns="id")
    assert model.feature_names_in_.tolist() == list(used.columns) and model.n_features_in_ == 7
    assert model.to_bytes() == quick(RandomForestLDL).fit(used, y).to_bytes()
    model.save(tmp_path / "model.ldlf")
    for one in (model, ldlf.load(tmp_path / "model.ldlf")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = one.predict(form(frame))
            np.testing.assert_array_equal(found, one.predict(form(used)))
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            np.testing.assert_array_equal(found, one.predict(used.to_numpy(dtype=float)))
        with pytest.raises(ValueError, match="The feature names should match"):
            one.predict(form(used[list("fedcba") + ["flag"]]))
        with pytest.raises(ValueError, match="unseen at fit time:\n- other"):
            one.predict(form(frame.assign(other=1.0)))


def test_a_number_that_is_missing_later_is_the_mean_of_training(plain):
    frame, y = plain
    X = frame[list("abcdef")]
    model = quick(RandomForestLDL).fit(X, y)
    holed = X.iloc[:5].copy()
    holed.iloc[2, 1] = np.nan
    filled = holed.fillna({"b": X["b"].astype(np.float32).mean()})
    np.testing.assert_allclose(model.predict(holed), model.predict(filled), atol=1e-6)
    np.testing.assert_array_equal(model.predict_frame(holed).to_numpy(), model.predict(holed))
    with pytest.raises(ValueError, match="eval_set has missing values in column 'b', the training rows have none"):
        quick(ldlf.LDLForest, choose=False, leave_out=0).fit(X, y, eval_set=(holed, y[:5]))


def test_arrays_and_frames_without_names_are_taken_as_they_are(plain):
    frame, y = plain
    numbers = frame.drop(columns="flag").to_numpy()
    for form in (numbers, pd.DataFrame(numbers)):
        model = MeanLDL().fit(form, y)
        assert model._columns is None and model.n_features_in_ == 7 and not hasattr(model, "feature_names_in_")


def test_a_column_of_categories_has_one_importance_and_the_page_names_its_features(data, tmp_path):
    frame, votes = data
    model = quick(RandomForestLDL).fit(frame, votes)
    assert model.feature_importances_.shape == (5,) and model.feature_importances_.argmax() == 0
    model.report(tmp_path / "model.html", frame, votes)
    assert "colour" in (tmp_path / "model.html").read_text()


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_pipeline_predicts_tables_as_tables(form, distributions):
    X, y = distributions
    frame = pd.DataFrame(X, columns=list("abcdef"))
    pipeline = ldlf.pipeline.make_pipeline(StandardScaler(), quick(LDLForest)).fit(frame, y)
    table = form(frame.assign(key=np.arange(len(X)) + 0.5)[["key", *"fedcba"]])
    if hasattr(table, "collect"):
        return
    found = pipeline.predict_frame(table, keep=["key"])
    assert type(found) is type(table)
    expected = np.column_stack([np.arange(len(X)) + 0.5, pipeline.predict(frame)])
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-6)
