"""The faces of an estimator: a regressor, a distribution as an object, names that lead somewhere."""

import signal
import subprocess
import sys
import textwrap
import time

import ldlf
import numpy as np
import pytest
from ldlf import LabelDistribution, LDLForest, LDLForestRegressor, MeanLDL
from ldlf.scorers import SCORERS
from quick import quick
from sklearn.inspection import partial_dependence
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def test_the_regressor_works_in_pipelines_and_searches(ages):
    X, age = ages
    pipeline = make_pipeline(StandardScaler(), quick(LDLForestRegressor))
    found = cross_val_score(pipeline, X, age, cv=3, scoring="neg_mean_absolute_error", error_score="raise")
    assert found.min() > -6
    assert pipeline.fit(X, age).predict(X).shape == (300,)
    model = pipeline[-1]
    assert partial_dependence(model, X[:50], [0], grid_resolution=5)["average"].shape == (1, 5)


def test_scorers_of_distributions_score_the_regressor(ages):
    X, age = ages
    model = quick(LDLForestRegressor, sigma=3).fit(X, age)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, age)
    assert not hasattr(model, "predict_proba")
    assert SCORERS["neg_kl"](model, X, age) == pytest.approx(LDLForest.score(model, X, age))
    assert SCORERS["neg_mae_mean"](pipeline, X, age) == pytest.approx(-np.abs(pipeline.predict(X) - age).mean())


def test_the_regressor_predicts_mean_or_median(ages):
    X, age = ages
    model = quick(LDLForestRegressor, sigma=2).fit(X, age)
    np.testing.assert_array_equal(model.predict(X), model.predict_mean(X))
    model.set_params(estimate="median")
    np.testing.assert_array_equal(model.predict(X), model.predict_quantile(X, 0.5))
    with pytest.raises(ValueError, match="estimate must be one of mean, median, got mode"):
        quick(LDLForestRegressor, estimate="mode").fit(X, age)


def test_the_regressor_takes_continuous_numbers(ages):
    X, _ = ages
    y = 3.7 * X[:, 0] + 0.01
    model = quick(LDLForestRegressor, iterations=400, min_iterations=400).fit(X, y)
    assert len(model.label_values_) == 64
    assert model.score(X, y) > 0.6
    # Whole numbers are their own labels.
    assert quick(LDLForestRegressor).fit(X, np.round(y)).label_values_.tolist() == list(
        range(int(np.round(y).min()), int(np.round(y).max()) + 1)
    )


def test_a_distribution_answers_like_its_rows():
    rows = LabelDistribution([[0.25, 0.5, 0.25], [1.0, 0.0, 0.0]], [20, 30, 40])
    assert rows.mean().tolist() == [30, 20]
    np.testing.assert_allclose(rows.std(), [np.sqrt(50), 0])
    assert rows.mode().tolist() == [30, 20] and rows.median().tolist() == [30, 20]
    assert rows.cdf(30).tolist() == [0.75, 1] and rows.cdf([20, 19]).tolist() == [0.25, 0]
    assert rows.ppf([0.2, 0.9]).tolist() == [[20, 40], [20, 20]]
    assert rows.interval(0.4).shape == (2, 2) and rows.interval([0.4, 0.9]).shape == (2, 2, 2)
    np.testing.assert_allclose(rows.log_score([31, 20]), [np.log(0.5), 0], atol=1e-6)
    assert set(rows.sample(50, random_state=0)[1]) == {20}
    assert len(rows[1]) == 1 and len(rows[:2]) == 2


def test_standard_deviations_and_distributions_are_predicted(ages):
    X, age = ages
    model = quick(LDLForest, sigma=3).fit(X, age)
    found = model.predict_dist(X)
    np.testing.assert_array_equal(found.std(), model.predict_std(X))
    np.testing.assert_array_equal(found.probabilities, model.predict(X))
    with pytest.raises(ValueError, match="predict_std needs labels that stand for numbers"):
        MeanLDL().fit(X, np.ones((300, 2))).predict_std(X)


def test_the_kept_iteration_is_an_attribute(distributions):
    plain = {"choose": False, "leave_out": 0, "early_stopping": True}
    model = quick(LDLForest, min_iterations=300, iterations=300, leaf_every=20, **plain).fit(*distributions)
    best = min(model.validation_curve_, key=lambda point: point[1])[0]
    assert model.best_iteration_ == best <= model.n_iter_
    assert MeanLDL().fit(*distributions).best_iteration_ == 0


INTERRUPTED = """
    from ldlf import LDLForest
    from ldlf.datasets import make_mixture
    X, y = make_mixture(2000)
    forest = LDLForest(trees=3, depth=4, iterations=10**6, min_iterations=10**6, patience=10**6)
    print("ready", flush=True)
    try:
        forest.fit(X, y)
    except KeyboardInterrupt:
        print(forest.stopped_, forest.predict(X).shape, forest.n_iter_ > 0, flush=True)
"""


def test_ctrl_c_leaves_the_best_model_so_far():
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(INTERRUPTED)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    try:
        said, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert said == "interrupted (2000, 5) True\n"


def test_submodules_are_found_without_an_import_of_their_own():
    code = (
        "import sys, ldlf; print('ldlf.plot' in sys.modules, ldlf.plot.__name__, ldlf.measures.kl([[1, 0]], [[1, 0]]))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found == "False ldlf.plot 0.0\n"
    assert {"datasets", "scorers", "torch"} <= set(dir(ldlf))
    with pytest.raises(AttributeError, match="no attribute 'plots'"):
        ldlf.plots  # noqa: B018


def test_generators_of_numpy_are_random_states(distributions):
    model = quick(LDLForest, random_state=np.random.default_rng(1)).fit(*distributions)
    again = quick(LDLForest, random_state=np.random.default_rng(1)).fit(*distributions)
    assert model.to_bytes() == again.to_bytes()
    X = distributions[0][:5]
    drawn = [model.sample(X, 4, random_state=np.random.default_rng(2)) for _ in range(2)]
    assert np.array_equal(*drawn)


def test_a_sigma_for_every_label_spreads_each_by_its_own(ages):
    X, age = ages
    model = quick(LDLForest, sigma=np.linspace(0, 5, 31), label_values=range(15, 46)).fit(X, age)
    truth = ldlf._targets.encoded([15, 45], model._labels)
    assert truth[0].max() == 1 and truth[1].max() < 0.3
    with pytest.raises(ValueError, match="sigma gives 2 widths for 31 labels"):
        quick(LDLForest, sigma=[1, 2], label_values=range(15, 46)).fit(X, age)


def test_no_rows_have_no_predictions(distributions):
    model = MeanLDL().fit(*distributions)
    assert model.predict(np.empty((0, 6))).shape == (0, 4)


def test_a_folder_that_is_missing_is_a_file_not_found(distributions, tmp_path):
    with pytest.raises(FileNotFoundError, match="the folder .* does not exist"):
        MeanLDL().fit(*distributions).save(tmp_path / "none" / "model.ldlf")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("n_estimators", "trees"), ("dept", "depth"), ("optimiser", "optimizer"), ("max_iter", "iterations")],
)
def test_a_wrong_name_of_a_parameter_leads_to_the_right_one(name, meant):
    with pytest.raises(TypeError, match=f"LDLForest has no parameter '{name}'; did you mean '{meant}'?"):
        LDLForest(**{name: 3})
