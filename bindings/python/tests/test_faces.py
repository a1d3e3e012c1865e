"""The faces of an estimator: a regressor, a distribution as an object, names that lead somewhere."""

import inspect
import signal
import subprocess
import sys
import textwrap

import ldlf
import numpy as np
import pytest
from ldlf import (
    KNeighborsLDL,
    LabelDistribution,
    LDLForest,
    LDLForestClassifier,
    LDLForestRegressor,
    LDLogitBoost,
    MeanLDL,
    NeuralDecisionForestLDL,
)
from ldlf.datasets import make_mixture
from ldlf.scorers import SCORERS
from quick import quick
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import partial_dependence
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
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


def test_a_pipeline_passes_on_every_answer_of_its_last_step(ages):
    X, age = ages
    pipeline = ldlf.pipeline.make_pipeline(StandardScaler(), quick(LDLForest, sigma=3)).fit(X, age)
    forest, scaled = pipeline[-1], pipeline[0].transform(X)
    np.testing.assert_array_equal(pipeline.predict_mean(X), forest.predict_mean(scaled))
    np.testing.assert_array_equal(pipeline.predict_interval(X, 0.9), forest.predict_interval(scaled, 0.9))
    np.testing.assert_array_equal(pipeline.predict_dist(X).std(), forest.predict_std(scaled))
    drawn = pipeline.sample(X, 2, random_state=0)
    np.testing.assert_array_equal(drawn, forest.sample(scaled, 2, random_state=0))
    assert not hasattr(ldlf.pipeline.make_pipeline(StandardScaler()), "predict_mean")
    ours, theirs = pipeline.explain(X[:3], background=X[:50]), forest.explain(scaled[:3], background=scaled[:50])
    np.testing.assert_array_equal(ours.values, theirs.values)
    assert clone(pipeline).set_params(ldlforest__trees=3)[-1].trees == 3


def test_rows_that_trees_left_out_give_an_honest_score(distributions):
    X, y = make_mixture(400, features=6, labels=4, seed=1)
    forest = quick(LDLForest).fit(X[:200], y[:200])
    assert forest.oof_prediction_.shape == (200, 4)
    assert forest.oob_score_ == pytest.approx(-ldlf.measures.kl(y[:200], forest.oof_prediction_), abs=1e-6)
    assert abs(forest.oob_score_ - forest.score(X[200:], y[200:])) < 0.5 * abs(forest.score(X[200:], y[200:]))
    forest.set_params(leave_out=0, choose=False).fit(X, y)
    assert not hasattr(forest, "oof_prediction_") and not hasattr(forest, "oob_score_")


def test_faces_have_out_of_fold_scores_of_their_own(ages):
    X, age = ages
    young = np.where(age < 30, "young", "old")
    classifier = quick(LDLForestClassifier).fit(X, young)
    said = classifier.classes_[classifier.oof_prediction_.argmax(axis=1)]
    assert classifier.oob_score_ == pytest.approx((said == young).mean())
    regressor = quick(LDLForestRegressor).fit(X, age)
    mean = LabelDistribution(regressor.oof_prediction_, regressor.label_values_).mean()
    assert regressor.oob_score_ == pytest.approx(r2_score(age, mean))


PLAIN = {"choose": False, "leave_out": 0, "early_stopping": True}


@pytest.mark.parametrize(
    "model",
    [
        quick(LDLForest, **PLAIN),
        quick(NeuralDecisionForestLDL, early_stopping=True),
        quick(LDLogitBoost, refit=False, patience=5),
    ],
)
def test_validation_rows_of_ones_own_stop_the_fit_and_are_not_learnt(model, distributions):
    X, y = distributions
    model.fit(X[:150], y[:150], eval_set=(X[150:], y[150:]))
    iteration, kl = min(model.validation_curve_, key=lambda point: point[1])
    assert model.best_iteration_ == iteration
    assert -model.score(X[150:], y[150:]) == pytest.approx(kl, rel=1e-4)
    # What the labels of the validation rows are does not enter the steps before the first measurement.
    again = clone(model).fit(X[:150], y[:150], eval_set=[(X[150:], y[150:][::-1])])
    assert again.loss_curve_[:5] == model.loss_curve_[:5]


def test_validation_rows_that_would_be_learnt_are_refused(distributions):
    X, y = distributions
    with pytest.raises(ValueError, match="eval_set: LDLForest checks itself .* set choose=False, leave_out=0"):
        quick(LDLForest).fit(X, y, eval_set=(X, y))
    with pytest.raises(ValueError, match="eval_set: NeuralDecisionForestLDL would not look at these rows"):
        quick(NeuralDecisionForestLDL, early_stopping=False).fit(X, y, eval_set=(X, y))
    with pytest.raises(ValueError, match="eval_set: with refit=True LDLogitBoost would learn from these rows too"):
        quick(LDLogitBoost, refit=True).fit(X, y, eval_set=(X, y))
    with pytest.raises(ValueError, match="eval_set: MeanLDL does not stop early"):
        MeanLDL().fit(X, y, eval_set=(X, y))
    with pytest.raises(ValueError, match=r"eval_set must be one pair \(X, y\)"):
        quick(LDLForest, **PLAIN).fit(X, y, eval_set=[(X, y), (X, y)])


def test_validation_rows_of_the_regressor_are_spread_as_its_own(ages):
    X, age = ages
    with pytest.warns(UserWarning, match="1 rows of y lie outside the labels of the training rows"):
        model = quick(LDLForestRegressor, **PLAIN, sigma=2).fit(X[:200], age[:200], eval_set=(X[200:], age[200:]))
    assert model.best_iteration_ <= model.n_iter_ and model.validation_curve_


def test_rows_may_weigh_by_their_votes():
    X, votes = np.zeros((2, 1)), np.array([[30, 0], [0, 10]])
    assert MeanLDL().fit(X, votes).predict(X[:1]).tolist() == [[0.5, 0.5]]
    model = MeanLDL().fit(X, votes, sample_weight="votes")
    np.testing.assert_allclose(model.predict(X[:1]), [[0.75, 0.25]])
    assert model.score(X, votes, sample_weight="votes") == pytest.approx(model.score(X, votes, sample_weight=[3, 1]))
    found = cross_val_score(MeanLDL(), *make_mixture(60, votes=9), cv=3, params={"sample_weight": "votes"})
    assert np.isfinite(found).all()
    with pytest.raises(ValueError, match="every row of y sums to 1"):
        MeanLDL().fit(X, [[0.5, 0.5], [0, 1]], sample_weight="votes")
    with pytest.raises(ValueError, match="y is one label per row"):
        MeanLDL().fit(X, [1, 2], sample_weight="votes")
    with pytest.raises(ValueError, match="sample_weight must hold numbers or be 'votes', got 'vote'"):
        MeanLDL().fit(X, votes, sample_weight="vote")


def test_classes_may_have_weights():
    X = np.zeros((40, 1))
    y = np.array(["a"] * 30 + ["b"] * 10)
    plain = {"choose": False, "leave_out": 0, "early_stopping": False}
    even = quick(LDLForestClassifier, class_weight="balanced", **plain).fit(X, y)
    np.testing.assert_allclose(even.predict_proba(X[:1]), [[0.5, 0.5]], atol=0.02)
    given = quick(LDLForestClassifier, class_weight={"a": 1, "b": 9}, **plain).fit(X, y)
    np.testing.assert_allclose(given.predict_proba(X[:1]), [[0.25, 0.75]], atol=0.02)
    assert clone(given).get_params()["class_weight"] == {"a": 1, "b": 9}


def test_promised_intervals_and_sets_hold_new_rows():
    X, _ = make_mixture(900, features=3, labels=2)
    age = np.clip(np.round(30 + 10 * X[:, 0] + np.random.default_rng(0).normal(scale=2.0, size=900)), 10, 50)
    forest = quick(LDLForest, sigma=1, label_values=range(10, 51)).fit(X[:400], age[:400])
    for promise in ("value", "vote"):
        low, high = forest.predict_interval(X[400:], 0.9, promise=promise).T
        assert 0.86 < ((low <= age[400:]) & (age[400:] <= high)).mean() <= 1
    both = forest.predict_interval(X[:5], [0.5, 0.9], promise="value")
    assert both.shape == (5, 2, 2) and (np.diff(both[:, 1]) >= np.diff(both[:, 0])).all()
    sets = forest.predict_set(X[400:], 0.9)
    assert sets.shape == (500, 41) and sets.dtype == bool
    assert 0.86 < sets[np.arange(500), (age[400:] - 10).astype(int)].mean() <= 1
    with pytest.raises(ValueError, match="level must be above 0 and below 1, got 80"):
        forest.predict_set(X, 80)
    with pytest.raises(ValueError, match="promise must be 'value', 'vote' or None, got 'mean'"):
        forest.predict_interval(X, promise="mean")
    with pytest.raises(ValueError, match="has no calibration data, so that nothing can be promised"):
        MeanLDL(label_values=range(2)).fit(X, np.ones((900, 2))).predict_set(X)


def test_any_learner_promises_by_held_out_rows():
    X, y = make_mixture(900, features=3, labels=4)
    rows = slice(500)
    with pytest.raises(ValueError, match=r"fit it with `fit\(X, y, calibrate=0.2\)`"):
        KNeighborsLDL().fit(X[rows], y[rows]).predict_set(X)
    model = KNeighborsLDL().fit(X[rows], y[rows], calibrate=0.3)
    inside = model.predict_set(X[500:], 0.8)
    assert 0.74 < (y[500:] * inside).sum() / y[500:].sum() < 0.95
    with pytest.raises(ValueError, match="calibrate must be above 0 and below 1, got 2"):
        KNeighborsLDL().fit(X, y, calibrate=2)
    with pytest.raises(ValueError, match="does not go with eval_set"):
        KNeighborsLDL().fit(X, y, calibrate=0.2, eval_set=(X, y))


def test_spreads_and_familiarity_tell_how_sure_a_row_is():
    X, y = make_mixture(900, features=3, labels=4)
    shares = y / y.sum(axis=1, keepdims=True)
    # Boosted trees are left out: out of fold they are a fifth of what predicts, and spreads are then too wide.
    forest = quick(LDLForest, grown_trees=0).fit(X[:500], y[:500])
    spread = forest.predict_spread(X[500:])
    assert spread.shape == (400, 4) and spread.dtype == np.float32
    assert 0.7 < ((shares[500:] - forest.predict_proba(X[500:])) ** 2).sum() / (spread.astype(float) ** 2).sum() < 1.4
    familiarity = forest.predict_familiarity(X[500:])
    assert 0.02 < (familiarity <= 0.1).mean() < 0.2
    assert (forest.predict_familiarity(X[500:] + 20) <= 0.01).mean() > 0.9


def test_importances_find_the_features_that_decide(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = np.where(X[:, [2]] > 0, [0.9, 0.1], [0.1, 0.9])
    forest = quick(LDLForest).fit(X, y)
    assert forest.feature_importances_.argmax() == 2 and forest.feature_importances_.shape == (4,)
    np.testing.assert_array_equal(forest.feature_importances_, forest.feature_importances_)
    assert forest.permutation_importances(X, y).argmax() == 2
    assert RFE(quick(LDLForest), n_features_to_select=1).fit(X, y).support_.tolist() == [False, False, True, False]
    assert SelectFromModel(forest, prefit=True, max_features=1).get_support().tolist() == [False, False, True, False]
    forest.save(tmp_path / "model.ldlf")
    with pytest.raises(AttributeError, match="permutation_importances"):
        ldlf.load(tmp_path / "model.ldlf").feature_importances_  # noqa: B018


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
    try:
        forest.fit(X, y, callback=lambda event: event.iteration == 100 and print("ready", flush=True))
    except KeyboardInterrupt:
        print(forest.stopped_, forest.predict(X).shape, forest.n_iter_ > 0, flush=True)
"""


def test_ctrl_c_leaves_the_best_model_so_far():
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(INTERRUPTED)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    try:
        said, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert said.splitlines()[-1] == "interrupted (2000, 5) True"


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
    [("dept", "depth"), ("max_depth", "depth"), ("optimiser", "optimizer"), ("n_estimator", "trees")],
)
def test_a_wrong_name_of_a_parameter_leads_to_the_right_one(name, meant):
    with pytest.raises(TypeError, match=f"LDLForest has no parameter '{name}'; did you mean '{meant}'?"):
        LDLForest(**{name: 3})


def test_names_of_scikit_learn_set_the_same_parameters(distributions):
    forest = LDLForest(n_estimators=7, max_iter=60, tol=0.5, n_iter_no_change=3)
    assert forest.get_params() == LDLForest(trees=7, iterations=60, tolerance=0.5, patience=3).get_params()
    assert "n_estimators" not in forest.get_params() and not hasattr(forest, "n_estimators")
    assert clone(forest).get_params() == forest.get_params()
    assert forest.set_params(n_estimators=9).trees == 9
    assert LDLForest.from_preset("paper", n_estimators=3).trees == 3
    assert LDLForestClassifier(n_estimators=4, class_weight="balanced").trees == 4
    assert LDLForestRegressor(max_iter=5).iterations == 5
    assert ldlf.LDLogitBoost(n_estimators=4, min_samples_leaf=2.0).rounds == 4
    with pytest.raises(TypeError, match="LDLForest: 'trees' is given twice"):
        LDLForest(trees=3, n_estimators=4)
    with pytest.raises(ValueError, match="Invalid parameter 'n_estimator'"):
        forest.set_params(n_estimator=3)


def test_every_name_of_scikit_learn_leads_to_a_parameter():
    for cls in ldlf.LEARNERS.values():
        defaults = cls().get_params()
        for other, own in cls._known_as.items():
            assert other not in defaults and cls(**{other: defaults[own]}).get_params() == defaults, (cls, other)


def test_searches_take_names_of_scikit_learn(distributions):
    pipeline = make_pipeline(StandardScaler(), ldlf.KNeighborsLDL())
    search = GridSearchCV(pipeline, {"kneighborsldl__n_neighbors": [2, 20]}, cv=3).fit(*distributions)
    assert search.best_estimator_[-1].neighbors == search.best_params_["kneighborsldl__n_neighbors"]


@pytest.mark.parametrize("face", [LDLForestClassifier, LDLForestRegressor])
def test_the_faces_say_what_their_parameters_are(face):
    parameters, notes = face.__doc__.split("\nNotes\n")
    for name in inspect.signature(face).parameters:
        assert parameters.count(f"\n{name} : ") == 1, name
    assert f"``{face.__name__}.from_preset``" in notes and "- ``paper``:" in notes
    assert "**parameters" not in parameters and notes.count("\nExamples\n") == 1


def test_many_different_whole_numbers_are_no_classes():
    X, _ = make_mixture(300)
    prices = np.random.default_rng(0).integers(10_000, size=300)
    for y in (prices, prices.astype(float)):
        with pytest.raises(ValueError, match=r"different numbers in 300 rows.*pass sigma.*y.astype\(str\)"):
            MeanLDL().fit(X, y)
    assert len(MeanLDL().fit(X, prices.astype(str)).classes_) == len(np.unique(prices))
    assert len(MeanLDL().fit(X, prices % 100).classes_) == len(np.unique(prices % 100))
    assert len(MeanLDL(sigma=50.0).fit(X, prices % 1000).classes_) > 100
