"""No silent wrong answer: labels are found by name, files keep everything, and what cannot be meant is refused."""

import warnings

import ldlf
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from ldlf import LDLForest, LDLForestAuto, LDLForestClassifier, LDLForestRegressor, MeanLDL, measures
from ldlf.datasets import make_mixture
from ldlf.scorers import SCORERS
from quick import quick
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsRegressor


@pytest.fixture
def frame(distributions):
    X, y = distributions
    return X, pd.DataFrame(y, columns=list("abcd"))


def test_a_loaded_model_scores_and_fits_like_the_saved_one(ages, tmp_path):
    X, age = ages
    model = quick(LDLForest, sigma=3, label_values=range(15, 46), random_state=7, n_jobs=2).fit(X, age)
    model.save(tmp_path / "age.ldlf")
    loaded = ldlf.load(tmp_path / "age.ldlf")
    assert loaded.score(X, age) == model.score(X, age)
    assert (loaded.sigma, loaded.random_state, loaded.n_jobs) == (3, 7, 2)
    assert clone(loaded).fit(X, age).to_bytes() == model.to_bytes()
    assert loaded.to_bytes() == model.to_bytes()


@pytest.mark.parametrize("face", [LDLForestClassifier, LDLForestRegressor])
def test_a_loaded_model_has_the_face_of_the_saved_one(ages, tmp_path, face):
    X, age = ages
    model = quick(face).fit(X, np.round(age / 10))
    model.save(tmp_path / "model.ldlf")
    loaded = ldlf.load(tmp_path / "model.ldlf")
    assert type(loaded) is face
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.get_params() == model.get_params()


@pytest.mark.parametrize("labels", [[False, True], ["no", "yes"], [3, 7]])
def test_classes_keep_their_kind_in_a_file(tmp_path, labels):
    X = np.arange(40.0)[:, None]
    model = MeanLDL().fit(X, np.asarray(labels)[np.arange(40) % 2])
    model.save(tmp_path / "model.ldlf")
    assert ldlf.load(tmp_path / "model.ldlf").classes_.tolist() == labels


def test_a_drawn_seed_is_kept_in_the_file(distributions, tmp_path):
    model = quick(LDLForest, random_state=np.random.default_rng(5)).fit(*distributions)
    model.save(tmp_path / "model.ldlf")
    assert ldlf.load(tmp_path / "model.ldlf").fit(*distributions).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("names", [[1, 2, 3, 4], ["1", "2", "3", "4"], np.array([1, 2, 3, 4])])
def test_columns_named_by_rising_numbers_stand_for_them(votes, names):
    X, y = votes
    model = MeanLDL().fit(X, pd.DataFrame(y, columns=names))
    assert model.classes_.tolist() == list(names)
    assert model.label_values_.tolist() == [1, 2, 3, 4]
    assert 1 < model.predict_mean(X[:1])[0] < 4


def test_columns_named_by_other_numbers_are_classes_alone(votes):
    X, y = votes
    model = MeanLDL().fit(X, pd.DataFrame(y, columns=[4, 2, 9, 1]))
    assert model.classes_.tolist() == [4, 2, 9, 1] and model.label_values_ is None


def test_columns_without_names_of_their_own_stand_for_nothing(votes):
    X, y = votes
    model = MeanLDL().fit(X, pd.DataFrame(y))
    assert model.classes_.tolist() == [0, 1, 2, 3] and model.label_values_ is None


def test_columns_of_several_levels_are_joined(votes):
    X, y = votes
    columns = pd.MultiIndex.from_product([["a", "b"], ["x", "y"]])
    assert MeanLDL().fit(X, pd.DataFrame(y, columns=columns)).classes_.tolist() == ["a/x", "a/y", "b/x", "b/y"]


def test_columns_of_y_are_found_by_name_in_scores_and_measures(frame):
    X, y = frame
    model = quick(LDLForest).fit(X, y)
    turned = y[list("dcba")]
    assert model.score(X, turned) == model.score(X, y)
    assert SCORERS["neg_kl"](model, X, turned) == SCORERS["neg_kl"](model, X, y)
    found = pd.DataFrame(model.predict(X), columns=list("abcd"))
    assert measures.kl(turned, found) == pytest.approx(measures.kl(y, found))
    with pytest.raises(ValueError, match="y has the label 'e', the model has not; the model has 'd', y has not"):
        model.score(X, y.rename(columns={"d": "e"}))
    with pytest.raises(ValueError, match="y_pred has the label 'e'"):
        measures.kl(y, found.rename(columns={"d": "e"}))


def test_two_labels_of_one_name_are_refused(votes):
    X, y = votes
    with pytest.raises(ValueError, match="y has two labels named 'a'; rename one"):
        MeanLDL().fit(X, pd.DataFrame(y, columns=list("abac")))


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (np.linspace(0.5, 9.3, 30), "y row 0: 0.5 has a fraction: continuous numbers are no classes.*sigma"),
        (pd.date_range("2020-01-01", periods=30), "y holds dates or times"),
        (["a", None] * 15, "y row 1: the label is missing"),
        ([1.0, float("nan")] * 15, "y row 1: the label is missing"),
        (np.array(["a", 1] * 15, dtype=object), "y must hold labels of one kind, numbers or text, got int and str"),
        (pd.Series([[1, 2], [3, 4]] * 15), "y row 0: the label is a list; give one label per row"),
        ([{"a": 1}] * 30, "y row 0: the label is a dict; give one label per row"),
    ],
)
def test_labels_that_are_no_classes_are_refused_with_a_remedy(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        MeanLDL().fit(np.zeros((30, 1)), y)


@pytest.mark.parametrize("sigma", [3, None])
def test_cross_validation_without_label_values_gives_numbers(ages, sigma):
    X, age = ages
    age = age.copy()
    age[0] = 80
    with pytest.warns(UserWarning, match="pass label_values to fix the labels"):
        found = cross_val_score(quick(LDLForest, sigma=sigma), X, age, cv=3, error_score="raise")
    assert np.isfinite(found).all()
    given = quick(LDLForest, sigma=sigma, label_values=range(15, 46))
    with pytest.raises(ValueError, match="outside the label values|is none of"):
        given.fit(X[1:], age[1:]).score(X, age)


def test_scorers_count_weights_by_metadata_routing(distributions):
    X, y = distributions
    weights = np.where(X[:, 0] > 0, 5.0, 0.5)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MeanLDL().set_fit_request(sample_weight=False).set_score_request(sample_weight=True)
        scorer = SCORERS["neg_kl"].set_score_request(sample_weight=True)
        params = {"sample_weight": weights}
        own = cross_val_score(model, X, y, cv=3, params=params)
        ours = cross_validate(model, X, y, cv=3, params=params, scoring={"kl": scorer})["test_kl"]
        with pytest.raises(ValueError, match="sample_weight"):
            cross_validate(model, X, y, cv=3, params=params, scoring=SCORERS["neg_kl"])
    np.testing.assert_allclose(ours, own)
    assert not np.allclose(ours, cross_val_score(MeanLDL(), X, y, cv=3))


def test_scorers_score_models_of_other_libraries(distributions):
    X, y = distributions
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    assert SCORERS["neg_kl"](forest, X, y) == pytest.approx(-measures.kl(y, forest.predict(X)))
    labels = y.argmax(axis=1)
    classifier = RandomForestClassifier(5, random_state=0).fit(X, labels)
    one_hot = np.eye(4)[labels]
    expected = -measures.kl(one_hot, classifier.predict_proba(X))
    assert SCORERS["neg_kl"](classifier, X, labels) == pytest.approx(expected)
    expected = -measures.mae_mean(labels, classifier.predict_proba(X), label_values=[0, 1, 2, 3])
    assert SCORERS["neg_mae_mean"](classifier, X, labels) == pytest.approx(expected)
    with pytest.raises(TypeError, match="LinearRegression predicts no distributions"):
        SCORERS["neg_kl"](LinearRegression().fit(X, labels), X, y)


def test_a_bad_label_of_an_ordered_y_is_named_and_the_rest_is_not_printed():
    with pytest.raises(ValueError, match="^y must hold numbers, got 'old'$"):
        LDLForest(sigma=2).fit(np.zeros((400, 1)), ["old"] * 400)
    with pytest.raises(ValueError, match="^y row 7: the label is missing"):
        LDLForest(sigma=2).fit(np.zeros((400, 1)), [1.0] * 7 + [np.nan] * 393)


def test_figures_name_what_is_wrong():
    for draw in (ldlf.plot.distributions, ldlf.plot.label_errors):
        with pytest.raises(ValueError, match=r"y_true must have two dimensions, \(rows, labels\), got 1"):
            draw([0.5, 0.5], [[0.5, 0.5]])


def test_depths_that_take_hours_are_said(distributions):
    with pytest.warns(UserWarning, match="depth=15 makes 16,384 leaves per tree"):
        LDLForest(choose=False, leave_out=0, trees=1, depth=15, iterations=1, min_iterations=1).fit(*distributions)


def test_measures_name_what_is_wrong():
    with pytest.raises(ValueError, match="y_true must have two dimensions"):
        measures.kl([0.5, 0.5], [0.5, 0.5])
    with pytest.raises(ValueError, match="y_pred row 0, label 1: the label -1 is negative"):
        measures.kl([[0.5, 0.5]], [[2, -1]])


def test_measures_row_by_row_make_up_the_mean(distributions):
    X, y = distributions
    found = quick(LDLForest).fit(X, y).predict(X)
    values = [1, 2, 3, 4]
    for name, measure in measures.MEASURES.items():
        needed = {"label_values": values} if measure.ordered else {}
        rows = measures.per_row(name, y, found, **needed)
        assert rows.shape == (200,)
        if name == "kappa":
            assert np.isnan(rows).all()
        else:
            assert rows.mean() == pytest.approx(getattr(measures, name)(y, found, **needed), abs=1e-9)
    assert measures.per_row("mae_mode", [1, 4], [[1, 0, 0, 0]] * 2, label_values=values).tolist() == [0, 3]
    with pytest.raises(ValueError, match="crps needs label_values"):
        measures.per_row("crps", y, found)
    with pytest.raises(ValueError, match="unknown measure 'kll'; did you mean 'kl'?"):
        measures.per_row("kll", y, found)


def test_epochs_that_do_not_decide_are_said(distributions):
    with pytest.warns(UserWarning, match="epochs=1 would be 2 iterations, but min_iterations=1200 is more and decides"):
        LDLForest(epochs=1, trees=1, depth=2).fit(*distributions)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(LDLForest, epochs=1).fit(*distributions)


def test_a_budget_that_ends_a_search_is_said():
    with pytest.warns(UserWarning, match="budget=0.05 s ended the search"):
        LDLForestAuto(budget=0.05, iterations=50).fit(*make_mixture(200))


def test_weights_are_counted_like_rows(distributions):
    weights = np.ones(200)
    weights[17] = -1
    with pytest.raises(ValueError, match="sample_weight row 17: -1 is negative"):
        MeanLDL().fit(*distributions, sample_weight=weights)
    weights[5] = np.nan
    with pytest.raises(ValueError, match="Input sample_weight contains NaN in row 5"):
        MeanLDL().fit(*distributions, sample_weight=weights)


def test_a_cell_of_y_that_is_no_number_is_named(votes):
    X, y = votes
    counts = pd.DataFrame(y, columns=list("abcd")).astype("Int64")
    counts.iloc[9, 2] = pd.NA
    with pytest.raises(ValueError, match="y row 9, label 2: <NA> is no number"):
        MeanLDL().fit(X, counts)


def test_lazy_labels_are_collected(votes):
    X, y = votes
    model = MeanLDL().fit(X, pl.DataFrame(y, schema=["1", "2", "3", "4"]).lazy())
    assert model.label_values_.tolist() == [1, 2, 3, 4]


def test_scorers_find_the_labels_of_other_libraries_by_name(distributions):
    X, y = distributions
    labels = np.array(list("abcd"))[y.argmax(axis=1)]
    classifier = LogisticRegression().fit(X, labels)
    frame = pd.DataFrame(y, columns=list("abcd"))
    expected = SCORERS["neg_kl"](classifier, X, y)
    for form in (frame, frame[list("dbca")], pl.from_pandas(frame[list("cdab")])):
        assert SCORERS["neg_kl"](classifier, X, form) == pytest.approx(expected)
    with pytest.raises(ValueError, match="y has the label 'e', the model has not; the model has 'd', y has not"):
        SCORERS["neg_kl"](classifier, X, frame.rename(columns={"d": "e"}))
    with pytest.raises(ValueError, match="y has 3 labels, the model 4"):
        SCORERS["neg_kl"](classifier, X, frame[list("abc")])


def test_ordered_scorers_of_other_libraries_take_values_by_the_columns_of_y(distributions):
    X, y = distributions
    frame = pd.DataFrame(y, columns=["1", "2", "3", "4"])
    expected = measures.mae_mean(y, KNeighborsRegressor().fit(X, y).predict(X), label_values=[1, 2, 3, 4])
    for order in ("1234", "4231"):
        shuffled = frame[list(order)]
        neighbours = KNeighborsRegressor().fit(X, shuffled)
        assert -SCORERS["neg_mae_mean"](neighbours, X, shuffled) == pytest.approx(expected, rel=1e-5), order
    classifier = LogisticRegression().fit(X, y.argmax(axis=1) + 1)
    by_class = SCORERS["neg_mae_mean"](classifier, X, frame)
    assert SCORERS["neg_mae_mean"](classifier, X, frame[list("4231")]) == pytest.approx(by_class)
