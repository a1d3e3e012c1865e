"""Estimators on deep networks: images in every form, tables, files shared with the command."""

import doctest
import importlib
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import ldlf
import numpy as np
import pandas as pd
import pytest
from ldlf import DeepLDL, DeepLDLForest, DeepNeuralDecisionForestLDL, _engine
from ldlf.datasets import make_mixture
from PIL import Image
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import generate_estimators  # noqa: E402

CLASSES = [DeepLDLForest, DeepNeuralDecisionForestLDL, DeepLDL]
SMALL = {"side": 16, "epochs": 3, "batch_size": 8}


def forest(**parameters):
    return DeepLDLForest(**{**SMALL, "trees": 3, "depth": 3, **parameters})


@pytest.fixture(scope="module")
def fitted(pictures):
    folder, _, y = pictures
    return forest(epochs=8).fit(folder, y)


def paths(pictures):
    return sorted(pictures[0].iterdir())


def zipped(pictures):
    file = pictures[0].parent / "pictures.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for path in paths(pictures):
            archive.write(path, path.name)
    return file


FORMS = {
    "folder as text": lambda pictures: str(pictures[0]),
    "zip file": zipped,
    "paths": paths,
    "column of paths": lambda pictures: pd.Series(map(str, paths(pictures))),
    "frame of paths": lambda pictures: pd.DataFrame({"file": map(str, paths(pictures))}),
    "array of paths": lambda pictures: np.array([str(path) for path in paths(pictures)]),
    "pixels": lambda pictures: pictures[1],
    "list of pixels": lambda pictures: list(pictures[1]),
    "Pillow": lambda pictures: [Image.open(path) for path in paths(pictures)],
    "with transparency": lambda pictures: np.concatenate([pictures[1], pictures[1][..., :1]], axis=3),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_images_of_every_form_are_the_same_rows(form, pictures, fitted):
    X = form(pictures)
    np.testing.assert_array_equal(fitted.predict(X), fitted.predict(pictures[0]))
    again = forest(epochs=8).fit(X, pictures[2])
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


def test_the_forest_learns_what_colours_say(pictures, fitted):
    folder, pixels, y = pictures
    assert fitted.score(folder, y) > ldlf.MeanLDL().fit(np.zeros((40, 1)), y).score(np.zeros((40, 1)), y) / 2
    found = fitted.predict_frame(folder)
    assert found.index[3] == "03.png" and list(found.columns) == ["label_0", "label_1"]
    np.testing.assert_array_equal(found.to_numpy(), fitted.predict(pixels))
    assert "images" in fitted._repr_mimebundle_()["text/html"]
    assert not hasattr(fitted, "n_features_in_")


def test_grey_images_and_images_of_several_sizes_are_read(pictures):
    _, pixels, y = pictures
    grey = forest(channels=1).fit(pixels[..., 0], y)
    np.testing.assert_array_equal(grey.predict(pixels[..., :1]), grey.predict(pixels[..., 0]))
    mixed = [image[: 10 + number % 5] for number, image in enumerate(pixels)]
    assert forest().fit(mixed, y).predict(mixed).shape == (40, 2)


@pytest.mark.parametrize("cls", CLASSES)
def test_models_survive_files_pickles_and_clones(cls, pictures, tmp_path):
    folder, _, y = pictures
    quick = {**SMALL, **({} if cls is DeepLDL else {"trees": 3, "depth": 3})}
    model = cls(**quick, random_state=4).fit(folder, y)
    model.save(tmp_path / "model.ldlf")
    loaded = ldlf.load(tmp_path / "model.ldlf")
    assert type(loaded) is cls and loaded.get_params() == model.get_params()
    for other in (loaded, pickle.loads(pickle.dumps(model)), clone(model).fit(folder, y)):
        np.testing.assert_array_equal(other.predict(folder), model.predict(folder))
    with pytest.raises(ValueError, match="rows are images here"):
        loaded.predict(np.zeros((3, 5)))


def test_a_model_of_the_command_predicts_what_the_command_predicts(pictures, tmp_path):
    folder, _, y = pictures
    table = pd.DataFrame({"file": [f"{number:02}.png" for number in range(40)], "red": y[:, 0], "green": y[:, 1]})
    table.to_csv(tmp_path / "shares.csv", index=False)
    model, out = tmp_path / "model.ldlf", tmp_path / "out.csv"
    ldlf_command = [sys.executable, "-m", "ldlf", "-q"]
    named = ["--table", str(tmp_path / "shares.csv"), "--image-column", "file"]
    settings = ["--set", "side=16", "--set", "epochs=2", "--set", "batch_size=8"]
    train = [*ldlf_command, "train", str(folder), *named, "--labels", "red,green", "--learner", "dldl", *settings]
    subprocess.run([*train, "--out", str(model)], check=True)
    subprocess.run([*ldlf_command, "predict", str(model), str(folder), "--out", str(out)], check=True)
    loaded = ldlf.load(model)
    assert isinstance(loaded, DeepLDL) and loaded.classes_.tolist() == ["red", "green"]
    np.testing.assert_allclose(loaded.predict(folder), pd.read_csv(out)[["red", "green"]], atol=1e-6)


def test_validation_images_of_ones_own_stop_the_fit(pictures):
    _, pixels, y = pictures
    model = forest(epochs=6).fit(pixels[:30], y[:30], eval_set=(pixels[30:], y[30:]))
    iteration, kl = min(model.validation_curve_, key=lambda point: point[1])
    assert model.best_iteration_ == iteration
    assert -model.score(pixels[30:], y[30:]) == pytest.approx(kl, rel=1e-3)


def test_ages_of_images_are_ordered_labels(pictures):
    folder, pixels, y = pictures
    model = forest(sigma=3, label_values=range(10, 61)).fit(folder, np.round(10 + 50 * y[:, 0]))
    assert model.predict_mean(folder).shape == (40,)
    promised = forest(sigma=3, label_values=range(10, 61)).fit(pixels, np.round(10 + 50 * y[:, 0]), calibrate=0.4)
    assert promised.predict_interval(pixels, 0.5, promise="value").shape == (40, 2)


def test_cross_validation_takes_arrays_and_lists_of_images(pictures):
    _, pixels, y = pictures
    found = cross_val_score(forest(), pixels, y, cv=2, error_score="raise")
    np.testing.assert_array_equal(cross_val_score(forest(), list(pixels), y, cv=2, error_score="raise"), found)


def test_what_is_no_image_is_named(pictures, tmp_path):
    folder, pixels, y = pictures
    with pytest.raises(ValueError, match=r"X row 0: pixels must be bytes from 0 to 255 \(uint8\), got float64"):
        forest().fit(pixels / 255, y)
    with pytest.raises(ValueError, match="rows are images here: X must be a folder or zip file.*got ndarray of shape"):
        forest().fit(pixels.reshape(40, -1), y)
    with pytest.raises(ValueError, match="lost.png: no such image"):
        forest().fit([*paths(pictures)[:39], folder / "lost.png"], y)
    with pytest.raises(ValueError, match="1, 3 or 4 channels"):
        forest().fit(pixels[..., :2], y)
    broken = tmp_path / "broken.png"
    broken.write_bytes(paths(pictures)[0].read_bytes()[:60])
    with pytest.raises(ValueError, match="broken.png.* cannot be read"):
        forest().fit([*paths(pictures)[:39], broken], y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        forest().fit(folder, y[:-1])


def test_what_only_tables_have_is_refused_for_images(pictures, fitted, tmp_path):
    folder, _, y = pictures
    with pytest.raises(ValueError, match="rows are images where a table of features is needed"):
        fitted.explain(folder)
    with pytest.raises(ValueError, match="report reads tables"):
        fitted.report(tmp_path / "page.html", folder, y)


def test_tables_are_read_under_the_backbone_for_tables():
    X, y = make_mixture(300)
    frame = pd.DataFrame(X).add_prefix("x").assign(kind=np.where(X[:, 0] > 0, "a", "b"))
    model = forest(backbone="mlp", epochs=5).fit(frame, y)
    assert model.predict(frame).shape == (300, 5)
    assert model.explain(frame.iloc[:1], background=frame.iloc[:5]).values.shape == (1, 21, 5)


def test_the_estimators_are_generated_from_the_declarations():
    committed = Path(generate_estimators.DEEP_TARGET).read_text()
    assert committed == generate_estimators.generate(generate_estimators.declared(), deep=True)
    assert set(ldlf.DEEP_LEARNERS.values()) == set(CLASSES)
    document = {entry["name"] for entry in json.loads(_engine.describe_learners())}
    assert document == {*ldlf.LEARNERS, *ldlf.DEEP_LEARNERS}


def test_the_examples_in_docstrings_run():
    result = doctest.testmod(importlib.import_module("ldlf._deep_estimators"))
    assert result.failed == 0 and result.attempted > 0


def expected_failures(estimator):
    """As of the estimators in tests/test_sklearn_checks.py."""
    distributions = "predict gives the distribution, of shape (rows, labels); the check expects one value a row"
    batches = "each mini-batch is drawn from the rows: a row of weight 2 is not drawn twice as often"
    return {
        "check_estimator_sparse_array": distributions,
        "check_estimator_sparse_matrix": distributions,
        "check_sample_weight_equivalence_on_dense_data": batches,
        "check_sample_weight_equivalence_on_sparse_data": batches,
    }


@parametrize_with_checks([cls(backbone="mlp", epochs=5) for cls in CLASSES], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
