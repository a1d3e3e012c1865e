"""Why a model predicts what it predicts, and a fit that goes on where another ended."""

import ldlf
import numpy as np
import pandas as pd
import pytest
from ldlf import KNeighborsLDL, LDLForest, LDLForestRegressor, LocallyAdjustedRegressor, RandomForestLDL
from quick import quick
from sklearn.base import clone


@pytest.mark.parametrize(
    ("learner", "parameters"), [(LDLForest, {"grown_trees": 0}), (RandomForestLDL, {}), (KNeighborsLDL, {})]
)
def test_the_parts_sum_to_the_prediction(learner, parameters, distributions):
    X, y = distributions
    model = quick(learner, **parameters).fit(X, y)
    found = model.explain(X[:70])
    assert found.values.shape == (70, 6, 4) and found.labels == [0, 1, 2, 3] and len(found) == 70
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1), model.predict(X[:70]), atol=1e-5)
    np.testing.assert_allclose(found.values.sum(axis=2), 0, atol=1e-5)
    np.testing.assert_allclose(found.moved(), np.abs(found.values).sum(axis=2) / 2)
    assert ("Shapley" in found.method) == (learner is KNeighborsLDL)


def test_the_base_is_the_mean_prediction_of_the_background(distributions, tmp_path):
    X, y = distributions
    model = quick(RandomForestLDL).fit(X, y)
    given = model.explain(X[:3], background=X[100:150])
    np.testing.assert_allclose(given.base_values, model.predict(X[100:150]).mean(axis=0), atol=1e-6)
    # All 200 training rows are kept, but none in a file.
    np.testing.assert_allclose(model.explain(X[:3]).base_values, model.predict(X).mean(axis=0), atol=1e-6)
    model.save(tmp_path / "model.ldlf")
    loaded = ldlf.load(tmp_path / "model.ldlf")
    np.testing.assert_allclose(loaded.explain(X[:3]).base_values, model.predict(X[:3]).mean(axis=0), atol=1e-6)
    with pytest.raises(ValueError, match="X has no rows; explain needs at least one"):
        model.explain(X[:0])
    with pytest.raises(ValueError, match="background has no rows"):
        model.explain(X, background=X[:0])


def test_columns_of_a_table_count_as_one_and_keep_their_names():
    colour = np.array(["red", "green", "blue"])[np.arange(240) % 3]
    frame = pd.DataFrame({"noise": np.random.default_rng(0).normal(size=240), "colour": colour})
    model = quick(RandomForestLDL).fit(frame, np.eye(3)[np.arange(240) % 3] * 8 + 1)
    found = model.explain(frame[:5])
    assert found.columns == ["noise", "colour"] and found.values.shape == (5, 2, 3)
    assert (found.moved().argmax(axis=1) == 1).all()
    assert found.data.tolist() == frame[:5].to_numpy().tolist()


def test_the_parts_of_the_mean_sum_to_it(ages):
    X, age = ages
    model = quick(LDLForestRegressor, sigma=2).fit(X, age)
    found = model.explain(X).mean()
    assert found.values.shape == (300, 3, 1) and found.labels == ["mean"]
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1)[:, 0], model.predict(X), rtol=1e-4)
    assert found.moved().mean(axis=0).argmax() == 0
    value = quick(LocallyAdjustedRegressor).fit(X[:60], age[:60])
    assert value.explain(X[:2]).labels == ["value"]
    with pytest.raises(ValueError, match="mean needs labels that stand for numbers"):
        quick(RandomForestLDL).fit(X, np.ones((300, 2))).explain(X[:1]).mean()


def test_an_explanation_is_one_of_shap(distributions):
    shap = pytest.importorskip("shap")
    X, y = distributions
    found = quick(LDLForest).fit(X, y).explain(X[:5])
    other = found.to_shap()
    assert isinstance(other, shap.Explanation) and other.shape == (5, 6, 4)
    np.testing.assert_array_equal(other[..., 1].values, found.values[..., 1])


LONG = {"choose": False, "leave_out": 0, "schedule": "constant", "warm_up": 0, "early_stopping": False, "epochs": None}


@pytest.mark.parametrize("leave_out", [0, 2])
def test_a_warm_start_ends_where_one_long_fit_does(distributions, leave_out):
    model = quick(LDLForest, **{**LONG, "leave_out": leave_out, "given_back": 0}, warm_start=True)
    model.set_params(iterations=60, min_iterations=0).fit(*distributions)
    first = model.to_bytes()
    assert model.set_params(iterations=150).fit(*distributions).n_iter_ == 150 == len(model.loss_curve_)
    whole = clone(model).set_params(warm_start=False).fit(*distributions)
    np.testing.assert_array_equal(model.predict(distributions[0]), whole.predict(distributions[0]))
    assert model.to_bytes() != first and model.loss_curve_ == whole.loss_curve_


def test_a_stopped_fit_goes_on_as_if_it_had_not(distributions):
    model = quick(LDLForest, warm_start=True)
    model.fit(*distributions, callback=lambda event: event.event == "iteration" and event.iteration == 40)
    assert model.stopped_ == "interrupted"
    model.fit(*distributions)
    assert model.to_bytes() == quick(LDLForest).fit(*distributions).to_bytes()


def test_a_warm_start_with_other_rows_or_parameters_is_refused(distributions):
    X, y = distributions
    model = quick(LDLForest, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="warm_start: the fit before was made on other data, .*warm_start=False"):
        model.fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="warm_start: the fit before was made with depth 3, and only iterations may"):
        model.set_params(depth=4).fit(X, y)
    assert model.set_params(warm_start=False).fit(X[:100], y[:100]).n_iter_ > 0
    with pytest.raises(
        TypeError, match="RandomForestLDL has no parameter 'warm_start'; its fits cannot be continued, .*LDLForest"
    ):
        RandomForestLDL(warm_start=True)
