"""Models and the command line's are one: the same bytes, either way round."""

import json

import ldlf
import numpy as np
import pandas as pd
import pytest
from ldlf import LEARNERS
from quick import SHORT, quick

SETTINGS = {
    name: [f"{key}={json.dumps(SHORT[key])}" for key in cls._declared if key in SHORT] for name, cls in LEARNERS.items()
}


@pytest.fixture
def table(command, tmp_path):
    path = tmp_path / "votes.csv"
    command("-q", "generate", "mixture", "--rows", 150, "--features", 6, "--labels", 4, "--votes", 10, "--out", path)
    return path


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_same_parameters_give_the_same_bytes(learner, command, table, tmp_path):
    settings = [word for pair in SETTINGS[learner] for word in ("--set", pair)]
    saved = tmp_path / "model.ldlf"
    values = ["--label-values", "1..4"]
    command("-q", "train", table, "--labels", "votes_*", *values, "--learner", learner, *settings, "--out", saved)
    frame = pd.read_csv(table)
    votes = frame.filter(like="votes_")
    model = quick(LEARNERS[learner], label_values=[1, 2, 3, 4]).fit(frame.drop(columns=votes.columns), votes)
    assert model.to_bytes() == saved.read_bytes()


def test_the_command_line_reads_our_models_and_we_read_its(command, table, tmp_path):
    frame = pd.read_csv(table)
    X, votes = frame.iloc[:, :6], frame.iloc[:, 6:]
    model = quick(ldlf.LDLForest, label_values=[1, 2, 3, 4]).fit(X, votes)
    ours, out = tmp_path / "ours.ldlf", tmp_path / "out.csv"
    model.save(ours)
    command("-q", "predict", ours, table, "--write", "distribution,mean", "--out", out)
    told = pd.read_csv(out)
    np.testing.assert_allclose(told.iloc[:, :4], model.predict(X), atol=1e-7)
    np.testing.assert_allclose(told["mean"], model.predict_mean(X), rtol=1e-6)

    theirs = tmp_path / "theirs.ldlf"
    command("-q", "train", table, "--labels", "votes_*", "--learner", "aa-knn", "--set", "neighbors=3", "--out", theirs)
    loaded = ldlf.load(theirs)
    assert isinstance(loaded, ldlf.KNeighborsLDL) and loaded.neighbors == 3
    assert loaded.feature_names_in_.tolist() == list(X.columns)
    assert loaded.classes_.tolist() == list(votes.columns)
    np.testing.assert_array_equal(loaded.predict(X), ldlf.KNeighborsLDL(neighbors=3).fit(X, votes).predict(X))
    np.testing.assert_array_equal(loaded.predict(X.rename(columns=str)), loaded.predict(X))
    assert loaded.score(X, votes) < 0


def test_a_model_of_the_command_predicts_the_raw_table_that_it_learnt_from(command, tmp_path):
    draws = np.random.default_rng(0)
    colour = draws.integers(3, size=120)
    size = draws.normal(size=120)
    size[::5] = np.nan
    frame = pd.DataFrame({"colour": np.array(["red", "green", "blue"])[colour], "size": size})
    votes = pd.DataFrame(np.eye(3, dtype=int)[colour] * 8 + 1, columns=["votes_1", "votes_2", "votes_3"])
    table, model, out = tmp_path / "table.csv", tmp_path / "model.ldlf", tmp_path / "out.csv"
    frame.join(votes).to_csv(table, index=False)
    command(
        "-q", "train", table, "--labels", "votes_*", "--learner", "random-forest", "--set", "trees=5", "--out", model
    )
    command("-q", "predict", model, table, "--out", out)
    loaded = ldlf.load(model)
    assert loaded.feature_names_in_.tolist() == ["colour", "size"]
    told = pd.read_csv(out)
    np.testing.assert_allclose(loaded.predict(frame), told, atol=1e-6)
    np.testing.assert_allclose(loaded.predict_frame(frame.join(votes)), told, atol=1e-6)


@pytest.fixture(scope="module")
def mixed():
    """Categories, yes and no, dates, numbers with gaps and a running number, and votes that follow the categories."""
    draws = np.random.default_rng(0)
    colour = draws.integers(3, size=150)
    frame = pd.DataFrame(
        {
            "id": np.arange(1, 151),
            "colour": pd.Categorical(np.array(["red", "green", "blue"])[colour]),
            "member": draws.integers(2, size=150).astype(bool),
            "since": pd.Timestamp("2020-01-31") + pd.to_timedelta(draws.integers(900, size=150), unit="D"),
            "size": np.where(np.arange(150) % 7 == 0, np.nan, draws.normal(size=150)),
            "town": np.where(draws.random(150) < 0.1, None, np.array(["Bonn", "Ulm"])[draws.integers(2, size=150)]),
        }
    )
    return frame, pd.DataFrame(np.eye(3, dtype=int)[colour] * 8 + 1, columns=["votes_1", "votes_2", "votes_3"])


def test_a_model_of_a_raw_frame_is_that_of_the_command_and_predicts_its_raw_table(command, mixed, tmp_path):
    frame, votes = mixed
    table, ours, theirs, out = (tmp_path / name for name in ("table.csv", "ours.ldlf", "theirs.ldlf", "out.csv"))
    frame.join(votes).to_csv(table, index=False)
    with pytest.warns(UserWarning, match="column 'id' is left out: a running number"):
        model = quick(ldlf.RandomForestLDL).fit(frame, votes)
    model.save(ours)
    command("-q", "predict", ours, table, "--out", out)
    np.testing.assert_allclose(pd.read_csv(out), model.predict(frame), atol=1e-6)
    settings = [word for pair in SETTINGS["random-forest"] for word in ("--set", pair)]
    command("-q", "train", table, "--labels", "votes_*", "--learner", "random-forest", *settings, "--out", theirs)
    assert json.loads(model.model_.document())["schema"] == json.loads(ldlf.load(theirs).model_.document())["schema"]
    assert model.to_bytes() == theirs.read_bytes()


def test_a_running_number_is_no_feature_here_either(command, table, tmp_path):
    frame = pd.read_csv(table)
    frame.insert(2, "id", np.arange(len(frame)))
    numbered, saved = tmp_path / "numbered.csv", tmp_path / "model.ldlf"
    frame.to_csv(numbered, index=False)
    command("-q", "train", numbered, "--labels", "votes_*", "--learner", "mean", "--out", saved)
    X, votes = frame.iloc[:, :7], frame.iloc[:, 7:]
    with pytest.warns(UserWarning, match="column 'id' is left out: a running number"):
        model = ldlf.MeanLDL().fit(X, votes)
    assert model.to_bytes() == saved.read_bytes()


def test_generated_data_is_the_command_lines(command, table):
    X, votes = ldlf.datasets.make_mixture(150, features=6, labels=4, votes=10)
    frame = pd.read_csv(table)
    np.testing.assert_allclose(frame.iloc[:, :6], X, rtol=1e-6)
    np.testing.assert_array_equal(frame.iloc[:, 6:], votes)
