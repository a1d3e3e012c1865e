"""Bad input is one sentence in the exception that Python expects."""

import json

import ldlf
import numpy as np
import pytest
from ldlf import DeepLDLForest, LDLForest, MeanLDL, _engine, _model_file


@pytest.mark.parametrize(
    ("parameters", "exception", "sentence"),
    [
        ({"trees": 0}, ValueError, "trees must be at least 1, got 0"),
        (
            {"trees": "many"},
            TypeError,
            "trees must be a whole number at least 1 and at most 1000000, or auto, got many",
        ),
        ({"trees": [5]}, TypeError, r"trees must be a number, text, True, False or None, got \[5\]"),
        ({"bias": 1}, TypeError, "bias must be true or false, got 1"),
        ({"depth": None}, TypeError, "depth must be a whole number at least 1 and at most 30, or auto, got none"),
        ({"learning_rate": float("nan")}, ValueError, "learning_rate must be a finite number, got nan"),
        ({"schedule": "sawtooth"}, ValueError, "schedule must be one of .*, got sawtooth"),
        ({"random_state": -1}, ValueError, "random_state must be between 0 and"),
        ({"label_values": [1, 2]}, ValueError, "label_values gives 2 numbers for 4 labels"),
        ({"label_values": [4, 3, 2, 1]}, ValueError, "label values must rise strictly, got 4 before 3"),
    ],
)
def test_a_bad_parameter_is_one_sentence(parameters, exception, sentence, distributions):
    with pytest.raises(exception, match=sentence):
        LDLForest(**parameters).fit(*distributions)


def test_a_refused_parameter_is_data_too(distributions):
    with pytest.raises(ValueError, match="trees") as refused:
        LDLForest(trees=0).fit(*distributions)
    assert (refused.value.parameter, refused.value.allowed, refused.value.got) == ("trees", "at least 1", "0")


def test_bad_labels_are_named_by_their_place():
    X = np.zeros((3, 1))
    with pytest.raises(ValueError, match="y row 1, label 0: the label -1 is negative") as refused:
        MeanLDL().fit(X, [[1, 0], [-1, 2], [0, 1]])
    assert (refused.value.row, refused.value.column) == (1, 0)
    with pytest.raises(ValueError, match="y row 2: every label is 0"):
        MeanLDL().fit(X, [[1, 0], [1, 2], [0, 0]])
    with pytest.raises(ValueError, match="y with several columns must hold probabilities or vote counts"):
        MeanLDL().fit(X, [["a", "b"]] * 3)


def test_a_feature_beyond_single_precision_is_named_by_its_place():
    with pytest.raises(ValueError, match="X row 1, column 0: 1e300 is outside the range of single precision"):
        MeanLDL().fit([[0.0], [1e300]], [[1, 0], [0, 1]])


def test_a_missing_model_file_and_an_existing_output(tmp_path):
    model = MeanLDL().fit([[0.0]], [[1, 0]])
    path = tmp_path / "model.ldlf"
    model.save(path)
    with pytest.raises(FileExistsError, match="exists; choose another name or pass overwrite=True"):
        model.save(path)
    model.save(path, overwrite=True)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        ldlf.load(tmp_path / "none.ldlf")
    with pytest.raises(ValueError, match="is a model of mean, not of sldlf; ldlf.load reads any"):
        LDLForest.load(path)


def test_what_the_system_refuses_is_an_os_error(tmp_path):
    model = MeanLDL().fit([[0.0]], [[1, 0]])
    full = "/dev/full/model.ldlf"
    with pytest.raises((OSError, ValueError)):
        model.save(full)
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(ValueError, match="is a folder; name a file"):
        model.save(folder, overwrite=True)


def test_a_damaged_model_file_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "model.ldlf"
    path.write_bytes(b"not a model")
    with pytest.raises(ValueError, match="not an ldlf model file, or a damaged one"):
        ldlf.load(path)


def test_a_diverging_training_says_what_to_try(distributions):
    X, y = distributions
    wild = LDLForest(optimizer="sgd", learning_rate=1e30, min_iterations=50, epochs=1, trees=3, scaling="raw")
    with pytest.raises(ValueError, match="try"):
        wild.fit(X * 1e30, y)


def test_a_build_without_deep_networks_says_how_to_get_them(distributions, tmp_path, monkeypatch):
    X, y = distributions
    file = MeanLDL().fit(X, y).to_bytes()
    header, start = _model_file._header(file)
    document = {**json.loads(header["__metadata__"]["ldlf"]), "learner": "dxxx"}
    del document["checksum"], document["provenance"]
    header["__metadata__"]["ldlf"] = json.dumps(document)
    (tmp_path / "model.ldlf").write_bytes(_model_file._join(header, file[start:]))
    for has, ends in ((True, "$"), (False, ".*no deep networks; build one that has: pip install .*--features deep")):
        monkeypatch.setattr(_engine, "has_deep_networks", lambda has=has: has)
        with pytest.raises(ValueError, match='of the learner "dxxx", which this program lacks' + ends):
            ldlf.load(tmp_path / "model.ldlf")
    with pytest.raises(ImportError, match="this build of ldlf has no deep networks; build one that has: pip install"):
        DeepLDLForest().fit(["a.png", "b.png"], y[:2])
