"""Exported models say in onnxruntime what they say here."""

import json
import os
from pathlib import Path

import ldlf
import numpy as np
import onnx
import onnxruntime
import pytest
from conftest import REPOSITORY
from ldlf import LEARNERS
from ldlf.datasets import make_mixture
from quick import quick
from scipy import io, sparse

GROWN = ["random-forest", "extra-trees", "ldlogitboost", "aoso-ldlogitboost"]
# They keep training rows. ldlf computes distances to them in single precision, the file in double precision.
KEEPING = ["aa-knn", "kernel-ridge", "ldsvr"]
SMOOTH = [
    "sldlf",
    "sndf-ldl",
    "bfgs-ldl",
    "iis-ldl",
    "iis-aldl",
    "d2ldl",
    "cpnn",
    "sce-ldl",
    "aa-bp",
    "mean",
    "pt-bayes",
]
EXPORTED = [*SMOOTH, *GROWN, *KEEPING]
TOLERANCE = 1e-5
DATA = Path(os.environ.get("LDLF_DATA", REPOSITORY.parent / "shared" / "data"))


def run(file, X, outputs=("distributions",)):
    """What onnxruntime says about rows, after the checker has looked at the file."""
    model = onnx.load_from_string(file)
    onnx.checker.check_model(model, full_check=True)
    domains = {node.domain for node in model.graph.node}
    assert "" in domains and domains <= {"", "ai.onnx.ml"}, "standard operators only"
    assert domains == {operators.domain for operators in model.opset_import}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
    found = session.run(list(outputs), {"features": np.ascontiguousarray(rows, dtype=np.float32)})
    return found[0] if len(outputs) == 1 else found


def assert_alike(model, X):
    expected = model.predict(X)
    found = run(model.to_onnx(), X)
    assert found.shape == expected.shape and found.dtype == np.float32
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=100 * TOLERANCE if model._learner in KEEPING else TOLERANCE
    )


def fitted(learner, X, y, **parameters):
    return quick(LEARNERS[learner], **parameters).fit(X, y)


@pytest.mark.parametrize("learner", EXPORTED)
def test_dense_rows(learner):
    X, y = make_mixture(200, features=6, labels=4)
    # Columns of other sizes and places, and one that never changes.
    X = np.column_stack([X * [1, 100, 1e-3, 1, 1, 1] + [0, 5000, 0, 0, -3, 0], np.full(len(X), 7.0)])
    assert_alike(fitted(learner, X, y, label_values=[1, 2, 4, 8]), X)


@pytest.mark.parametrize("learner", EXPORTED)
def test_sparse_rows(learner):
    X, y = make_mixture(200, features=150, density=0.05)
    # A numeric column among sparse ones: the forest spreads it over bins.
    numeric = np.linspace(-3, 5, X.shape[0])[:, None] ** 2
    X = sparse.hstack([X, sparse.csr_matrix(numeric)], format="csr").astype(np.float32)
    assert_alike(fitted(learner, X, y, label_values=np.arange(y.shape[1]).tolist()), X)


@pytest.mark.parametrize(
    "parameters",
    [
        {"scaling": "raw"},
        {"scaling": "common"},
        {"bias": False},
        {"units": 9},
        {"depth": 1},
        {"depth": 2},
        {"depth": 8, "trees": 3},
        {"bins": 0},
        {"feature_clip": 0.5},
        {"init": "greedy"},
    ],
    ids=str,
)
def test_every_way_to_build_a_forest(parameters, distributions):
    X, y = distributions
    assert_alike(fitted("sldlf", X, y, **parameters), X)


@pytest.mark.parametrize(
    "parameters",
    [{"trees": 1}, {"trees": 50, "min_leaf_weight": 1}, {"max_depth": 1}, {"max_depth": 20, "bootstrap": True}],
    ids=str,
)
@pytest.mark.parametrize("learner", ["random-forest", "extra-trees"])
def test_every_size_of_grown_trees(learner, parameters, distributions):
    X, y = distributions
    assert_alike(fitted(learner, X, y, **parameters), X)


@pytest.mark.parametrize("learner", ["ldlogitboost", "aoso-ldlogitboost"])
def test_many_boosted_trees(learner, distributions):
    X, y = distributions
    model = fitted(learner, X, y, rounds=1000, patience=1000, validation_fraction=0)
    assert dict(model.inspection_)["trees"] >= 1000
    assert_alike(model, X)


@pytest.mark.parametrize("learner", GROWN)
def test_trees_without_a_split(learner):
    X, y = make_mixture(50, features=3, labels=4)
    model = fitted(learner, np.zeros_like(X), y)
    assert dict(model.inspection_)["deepest_leaf"] == 0
    assert_alike(model, X)


def test_rows_on_a_threshold_go_the_same_way():
    # Between two neighboring numbers of single precision there is no third: every threshold is a value of the data.
    X = np.arange(64, dtype=np.int32)[:, None] + np.float32(1).view(np.int32)
    X = np.vstack([X, X + 2**23 * 10]).view(np.float32)
    y = np.random.default_rng(0).dirichlet(np.ones(3), len(X))
    model = fitted("random-forest", X, y, trees=1, bootstrap=False, min_leaf_weight=1, max_features=1.0)
    assert dict(model.inspection_)["leaves"] == len(X)
    assert_alike(model, X)


@pytest.mark.parametrize("learner", EXPORTED)
def test_only_grown_trees_need_operators_of_machine_learning(learner, distributions):
    model = onnx.load_from_string(fitted(learner, *distributions, label_values=[1, 2, 3, 4]).to_onnx())
    versions = {operators.domain: operators.version for operators in model.opset_import}
    if learner == "sldlf":  # may choose ranks and grown trees, which need them
        assert versions in ({"": 17}, {"": 17, "ai.onnx.ml": 3})
    else:
        assert versions == ({"": 17, "ai.onnx.ml": 3} if learner in GROWN else {"": 17})


@pytest.mark.parametrize("learner", EXPORTED)
def test_rows_far_from_those_that_were_learnt_from(learner, distributions):
    X, y = distributions
    model = fitted(learner, X, y, label_values=[1, 2, 3, 4])
    far = np.zeros((8, X.shape[1]), dtype=np.float32)
    far[0], far[1] = 1e-45, -1e-45  # the smallest numbers there are
    far[2], far[3] = 1e4, -1e4
    far[4, 0], far[5, 1], far[6, 2] = 1e30, -1e30, 3e38
    if learner not in ("sldlf", "sndf-ldl", "mean", *GROWN):
        far = far[:4]  # without clipping, sums of such numbers are not finite here either
    assert_alike(model, far)


@pytest.mark.parametrize("learner", EXPORTED)
def test_a_missing_value_gives_no_distribution_where_we_refuse_it(learner, distributions):
    X, y = distributions
    model = fitted(learner, X, y, label_values=[1, 2, 3, 4])
    odd = X[:5].copy()
    odd[1, 2], odd[3, 0] = np.nan, np.inf
    with pytest.raises(ValueError, match="NaN|infinity"):
        model.predict(odd)
    found, mean, mode = run(model.to_onnx(), odd, ("distributions", "mean", "mode"))
    for output in (found, mean, mode):
        assert np.isnan(output[[1, 3]]).all() and np.isfinite(output[[0, 2, 4]]).all()
    np.testing.assert_allclose(found[[0, 2, 4]], model.predict(X[[0, 2, 4]]), atol=TOLERANCE)


@pytest.mark.parametrize("learner", EXPORTED)
@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_the_number_of_rows_is_free(learner, rows, distributions):
    X, y = distributions
    model = fitted(learner, X, y, label_values=[1, 2, 3, 4])
    assert_alike(model, np.resize(X, (rows, X.shape[1])))


def test_ordered_labels_also_give_mean_and_mode(ages):
    X, y = ages
    model = fitted("sldlf", X, y, sigma=2.0)
    found, mean, mode = run(model.to_onnx(), X, ("distributions", "mean", "mode"))
    assert mean.shape == mode.shape == (len(X),)
    np.testing.assert_allclose(mean, model.predict_mean(X), rtol=1e-5)
    np.testing.assert_array_equal(mode, model.classes_[found.argmax(axis=1)])
    assert (mode == model.predict_label(X)).mean() > 0.99


def test_names_stand_in_the_metadata():
    import pandas as pd

    X, y = make_mixture(100, features=2, labels=3)
    table, labels = pd.DataFrame(X, columns=["width", "ж"]), pd.DataFrame(y, columns=["low", "mid", "high"])
    file = fitted("bfgs-ldl", table, labels, label_values=[0.5, 1, 2]).to_onnx()
    facts = {fact.key: fact.value for fact in onnx.load_from_string(file).metadata_props}
    assert facts["learner"] == "bfgs-ldl" and facts["ldlf_version"] == ldlf.__version__
    assert json.loads(facts["feature_names"]) == ["width", "ж"]
    assert json.loads(facts["label_names"]) == ["low", "mid", "high"]
    assert json.loads(facts["label_values"]) == [0.5, 1, 2]
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    assert session.get_modelmeta().custom_metadata_map == facts


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name not in (*EXPORTED, "sldlf-auto")])
def test_other_models_say_that_they_cannot_and_which_can(learner, distributions):
    X, y = distributions
    model = fitted(learner, X, y, label_values=[1, 2, 3, 4])
    with pytest.raises(ValueError, match=f"a model of {learner} cannot be exported to ONNX; those of sldlf, "):
        model.to_onnx()


def test_a_mixture_is_exported_when_its_members_can_be(distributions):
    X, y = distributions
    assert_alike(fitted("sldlf-auto", X, y, baselines=False, iterations=30), X)


def test_a_mixture_with_grown_trees_is_exported():
    # Steps along two of many features: grown trees find them, and neighbors and kernels do not.
    X = np.random.default_rng(0).normal(size=(300, 40)).astype(np.float32)
    steps = (X[:, 0] > 0.3).astype(int) + (X[:, 1] > -0.2)
    y = np.array([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]])[steps]
    model = fitted("sldlf-auto", X, y, baselines=True, iterations=30)
    members = {told.removeprefix("member ") for told, _ in model.inspection_ if told.startswith("member ")}
    assert members and members <= set(EXPORTED), members
    assert b"TreeEnsembleRegressor" in model.to_onnx(), "sldlf has grown trees, or they are members of their own"
    assert_alike(model, X)


def survey(rows, seed):
    """Columns of every kind, of which some values are missing or were not seen before."""
    import pandas as pd

    random = np.random.default_rng(seed)
    start = pd.Timestamp("1968-02-20") if seed else pd.Timestamp("2019-01-01")
    days = start + pd.to_timedelta(
        random.integers(0, 20_000 if seed else 700, rows) * 86_400 + random.integers(0, 86_400, rows), "s"
    )
    table = pd.DataFrame(
        {
            "year": np.where(random.random(rows) < 0.1, np.nan, random.integers(1940, 2005, rows)),
            "mean": random.normal(size=rows),
            "city": random.choice(["Köln", "Nantes", "Łódź", *(["Oslo"] if seed else [])], rows),
            "member": pd.array(random.random(rows) < 0.4, dtype="boolean"),
            "seen": days,
        }
    )
    table.loc[random.random(rows) < 0.1, "city"] = None
    table.loc[random.random(rows) < 0.1, "member"] = pd.NA
    table.loc[random.random(rows) < 0.1, "seen"] = pd.NaT
    return table


def as_inputs(table):
    """What an exported model takes of a table."""

    def one(column, kind):
        return column.to_numpy(kind, na_value=np.nan).reshape(-1, 1)

    return {
        "year": one(table["year"], np.float32),
        "mean_2": one(table["mean"], np.float32),
        "city": table["city"].astype(object).where(table["city"].notna(), "").to_numpy(object).reshape(-1, 1),
        "member": one(table["member"], np.float32),
        "seen": table["seen"].to_numpy("datetime64[s]").astype(np.int64).reshape(-1, 1),
    }


def test_columns_are_taken_as_the_user_has_them():
    table, new = survey(200, 0), survey(200, 1)
    steps = (table["city"].eq("Köln").astype(int) + (table["year"].fillna(1970) > 1970)).to_numpy()
    y = np.array([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]])[steps]
    for learner in ("bfgs-ldl", "random-forest"):
        model = fitted(learner, table, y, label_values=[1, 2, 3])
        file = model.to_onnx()
        onnx.checker.check_model(onnx.load_from_string(file), full_check=True)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        assert [(told.name, told.type) for told in session.get_inputs()] == [
            ("year", "tensor(float)"),
            ("mean_2", "tensor(float)"),
            ("city", "tensor(string)"),
            ("member", "tensor(float)"),
            ("seen", "tensor(int64)"),
        ]
        for rows in (table, new):
            found, mean = session.run(["distributions", "mean"], as_inputs(rows))
            np.testing.assert_allclose(found, model.predict(rows), rtol=0, atol=TOLERANCE)
            np.testing.assert_allclose(mean, model.predict_mean(rows), rtol=1e-4)
        told = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
        assert [(one["input"], one["column"], one["holds"]) for one in told[:3]] == [
            ("year", "year", "number"),
            ("mean_2", "mean", "number"),
            ("city", "city", "categories"),
        ]
        assert told[2]["values"] == ["Köln", "Nantes", "Łódź"]
        features = onnx.load_from_string(model.to_onnx(inputs="features"))
        assert [told.name for told in features.graph.input] == ["features"]
    with pytest.raises(ValueError, match="inputs must be 'auto', 'columns' or 'features', got \"rows\""):
        model.to_onnx(inputs="rows")


def test_a_model_of_arrays_knows_no_columns(distributions):
    with pytest.raises(ValueError, match="was not fitted on a data frame"):
        fitted("mean", *distributions).to_onnx(inputs="columns")


def test_a_file_is_written_once(tmp_path, distributions):
    path = tmp_path / "model.onnx"
    model = fitted("mean", *distributions)
    assert path.write_bytes(b"mine") and pytest.raises(FileExistsError, model.to_onnx, path)
    assert path.read_bytes() == b"mine"
    assert model.to_onnx(path, overwrite=True) == path.read_bytes()
    with pytest.raises(FileNotFoundError, match="does not exist"):
        model.to_onnx(tmp_path / "absent" / "model.onnx")


def test_the_command_line_writes_the_same_file(command, tmp_path, distributions):
    model = fitted("sldlf", *distributions)
    model.save(tmp_path / "m.ldlf")
    command("-q", "export", tmp_path / "m.ldlf", "--onnx", tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == model.to_onnx()


def sets_at_hand():
    return sorted(path.name for path in DATA.glob("ldl/*.mat"))


@pytest.mark.skipif(not sets_at_hand(), reason=f"no datasets in {DATA}")
@pytest.mark.parametrize("name", sets_at_hand())
def test_every_dataset_at_hand(name):
    file = io.loadmat(DATA / "ldl" / name)
    rows = np.random.default_rng(0).permutation(len(file["labels"]))[:1500]
    X, y = file["features"][rows], file["labels"][rows]
    X = X.astype(np.float32) if sparse.issparse(X) else np.asarray(X, dtype=np.float32)
    values = np.arange(y.shape[1]).tolist()
    for learner in EXPORTED:
        short = {"iterations": 30} if learner in ("iis-ldl", "iis-aldl", "sce-ldl") else {}
        short |= {"epochs": 3} if learner in ("cpnn", "aa-bp") else {}
        assert_alike(fitted(learner, X, y, label_values=values, **short), X)
