#!/usr/bin/env python3
"""Writes `python/ldlf/_estimators.py` and, for learners on deep networks, `_deep_estimators.py` from the learners' declarations in
Rust: names, defaults, ranges and help stand there once.

Run it whenever a learner or a parameter changes, with the package installed, or from the command line's list:

    ldlf learners --json | bindings/python/tools/generate_estimators.py -

A package without deep networks writes the first file alone. Tests compare the files with what this gives.
"""

import json
import re
import sys
import textwrap
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.metadata import files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "ldlf"
TARGET, DEEP_TARGET = PACKAGE / "_estimators.py", PACKAGE / "_deep_estimators.py"

# What Python calls the learners: what they are, where the literature has an acronym. A new learner is called by the parts of its name.
CLASS_NAMES = {
    "sldlf": "LDLForest",
    "sldlf-auto": "LDLForestAuto",
    "sndf-ldl": "NeuralDecisionForestLDL",
    "aa-bp": "NeuralNetworkLDL",
    "aa-knn": "KNeighborsLDL",
    "aas": "AgeSpecificRegressor",
    "aoso-ldlogitboost": "AdaptiveLDLogitBoost",
    "bfgs-ldl": "MaximumEntropyLDL",
    "cpnn": "ConditionalNetworkLDL",
    "d2ldl": "RebuiltTargetsLDL",
    "dldl": "DeepLDL",
    "dldlf": "DeepLDLForest",
    "dndf-ldl": "DeepNeuralDecisionForestLDL",
    "extra-trees": "ExtraTreesLDL",
    "iis-aldl": "AdaptiveIterativeScalingLDL",
    "iis-ldl": "IterativeScalingLDL",
    "kernel-ridge": "KernelRidgeLDL",
    "larr": "LocallyAdjustedRegressor",
    "ldlogitboost": "LDLogitBoost",
    "ldsvr": "SupportVectorLDL",
    "pt-bayes": "NaiveBayesLDL",
    "pt-svm": "PairwiseSVMLDL",
    "random-forest": "RandomForestLDL",
    "sce-ldl": "SparseEncodingLDL",
    "mean": "MeanLDL",
}

# Learners whose classes others add parameters to: the classifier, the regressor and the forest on a cluster.
EXTENDED = ["sldlf"]

# Settings that keep the example in a docstring quick; each learner takes those it has.
QUICK = {"trees": 5, "depth": 4, "iterations": 20, "epochs": 5, "rounds": 20, "min_iterations": 20}

# The parameters that all estimators share: name, default, annotation, help.
SHARED = [
    (
        "label_values",
        "None",
        "Any",
        "array of numbers, optional",
        "The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals when y has "
        "several columns.",
    ),
    (
        "sigma",
        "None",
        "Any",
        "float or one for each label, optional",
        "With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is on its label.",
    ),
    (
        "random_state",
        "0",
        "Any",
        "int, RandomState, Generator or None, default=0",
        "Seed of everything random. The same seed gives the same model, to the byte.",
    ),
    (
        "n_jobs",
        "None",
        "int | None",
        "int, optional",
        "Threads; None is one, -1 one for every core. The model does not depend on it.",
    ),
    ("verbose", "False", "bool", "bool, default=False", "Whether to show a bar on standard error while fitting."),
]

# What learners that can be continued have beside these.
WARM_START = (
    "warm_start",
    "False",
    "bool",
    "bool, default=False",
    "Whether ``fit`` goes on where the last one ended, by Ctrl-C, a callback or its iterations: on the same rows with the same "
    "parameters, but for iterations, which may be raised (with epochs=None). Keeps a checkpoint of the size of a few models.",
)

HEAD = '''"""{what} as an estimator. Written by tools/generate_estimators.py from the declarations in Rust; do not edit."""

from __future__ import annotations

from typing import {typing}

{imports}
'''


def class_name(learner):
    return CLASS_NAMES.get(learner, "".join(part.capitalize() for part in learner.split("-")))


def python_literal(value):
    return json.dumps(value) if isinstance(value, str) else repr(value)


def annotation(parameter):
    words = [*parameter.get("choices", []), *(["auto"] if parameter["auto"] else [])]
    words = [word for place, word in enumerate(words) if word not in words[:place]]
    kinds = {"integer": ["int"], "number": ["float"], "flag": ["bool"], "choice": [], "text": ["str"]}[
        parameter["kind"]
    ]
    if words and kinds != ["str"]:
        kinds = [*kinds, f"Literal[{', '.join(map(python_literal, words))}]"]
    if parameter["optional"]:
        kinds = [*kinds, "None"]
    return " | ".join(kinds)


def wrapped(text, indent):
    return textwrap.fill(text, 118, initial_indent=indent, subsequent_indent=indent)


def python_words(text):
    """The words of the declarations in Python's spelling: ``None`` and ``"auto"`` where a parameter takes them."""
    text = text.replace("true or false", "True or False")
    text = re.sub(r"(; |, or )none\b", r"\1None", text)
    return re.sub(r"(; |, or )auto\b", r'\1"auto"', text)


def known_as(parameter):
    """The name that scikit-learn has for the same thing."""
    return f" (scikit-learn: ``{parameter['known_as']}``)" if "known_as" in parameter else ""


def docstring(entry, name):
    lines = textwrap.wrap(
        f'"""{entry["summary"][0].upper()}{entry["summary"][1:]} (``{entry["name"]}``).',
        118,
        initial_indent="    ",
        subsequent_indent="    ",
    )
    if entry["source"]:
        lines += ["", wrapped(f"Source: {entry['source']}.", "    ")]
    lines += ["", "    Parameters", "    ----------"]
    for parameter in entry["parameters"]:
        default = python_literal(parameter["default"])
        lines.append(f"    {parameter['name']} : {python_words(parameter['allowed'])}, default={default}")
        lines.append(wrapped(python_words(parameter["help"]) + known_as(parameter), "        "))
    for shared, _, _, kind, help_text in shared_by(entry):
        if shared == "random_state" and has_budget(entry):
            help_text += " Where budget ends the search, the model also depends on the time that was left, and a warning says so."
        if shared == "n_jobs" and has_budget(entry):
            help_text = help_text.replace(
                "does not depend on it", "does not depend on it, unless budget ends the search"
            )
        lines += [f"    {shared} : {kind}", wrapped(help_text, "        ")]
    if entry["presets"]:
        lines += ["", "    Notes", "    -----", f"    Presets, for ``{name}.from_preset``:", ""]
        for preset in entry["presets"]:
            text = f"- ``{preset['name']}``: {preset['help']}."
            lines.append(textwrap.fill(text, 118, initial_indent="    ", subsequent_indent="      "))
    declared = {parameter["name"] for parameter in entry["parameters"]}
    quick = ", ".join(f"{key}={value}" for key, value in QUICK.items() if key in declared)
    if on_network(entry):
        quick = f'backbone="mlp", {quick}'
    ordered = values_only(entry) or entry["abilities"]["ordered"]
    if ordered:
        quick = ", ".join(filter(None, [quick, "label_values=[1, 2, 3, 4, 5]"]))
    shape = "(2,)" if values_only(entry) else "(2, 5)"
    lines += [
        "",
        "    Examples",
        "    --------",
        f"    >>> from ldlf import {name}",
        "    >>> from ldlf.datasets import make_mixture",
        "    >>> X, y = make_mixture(60)",
        f"    >>> {name}({quick}).fit(X, y).predict(X[:2]).shape",
        f"    {shape}",
        '    """',
    ]
    return lines


def shared_by(entry):
    """The shared parameters, but for those that the learner declares itself: one value then serves both."""
    declared = {parameter["name"] for parameter in entry["parameters"]}
    shared = [*SHARED, WARM_START] if entry["abilities"]["resumes"] else SHARED
    return [each for each in shared if each[0] not in declared]


def has_budget(entry):
    """Whether the clock may end the learner's search."""
    return any(parameter["name"] == "budget" for parameter in entry["parameters"])


def values_only(entry):
    """Whether the learner predicts one value per row instead of a distribution."""
    return entry["abilities"]["predicts"] == "values"


def on_network(entry):
    """Whether the learner trains a deep network, whose rows may be images."""
    return entry["abilities"]["backbone"]


def base(entry):
    if on_network(entry):
        return "DeepEstimator"
    return "ValueEstimator" if values_only(entry) else "DistributionEstimator"


def argument(name, kind, default):
    """An argument with its type and default, laid out as the formatter does."""
    line = f"        {name}: {kind} = {default},"
    if len(line) <= 120 or not kind.startswith("Literal["):
        return [line]
    return [
        f"        {name}: Literal[",
        f"            {kind.removeprefix('Literal[').removesuffix(']')}",
        f"        ] = {default},",
    ]


def typed_parameters(entry):
    """The parameters as a type, for classes that add some to those of another."""
    name = class_name(entry["name"])
    lines = ["", "", f"class {name}Parameters(TypedDict, total=False):"]
    lines += [f'    """The parameters of :class:`{name}`."""', ""]
    kinds = [(parameter["name"], annotation(parameter)) for parameter in entry["parameters"]]
    return lines + [
        f"    {key}: {kind}" for key, kind in kinds + [(shared, kind) for shared, _, kind, *_ in shared_by(entry)]
    ]


def source(entry):
    name = class_name(entry["name"])
    lines = typed_parameters(entry) if entry["name"] in EXTENDED else []
    lines += ["", "", f"class {name}({base(entry)}):", *docstring(entry, name), ""]
    names = [parameter["name"] for parameter in entry["parameters"]]
    lines.append(f'    _learner = "{entry["name"]}"')
    if names:
        lines += ["    _declared = (", *(f'        "{declared}",' for declared in names), "    )"]
    else:
        lines.append("    _declared = ()")
    known = {parameter["known_as"]: parameter["name"] for parameter in entry["parameters"] if "known_as" in parameter}
    if known:
        lines += ["    _known_as = {", *(f'        "{other}": "{own}",' for other, own in known.items()), "    }"]
    presets = {preset["name"]: preset["settings"] for preset in entry["presets"]}
    if presets:
        lines.append("    _presets = {")
        for preset, settings in presets.items():
            lines.append(f'        "{preset}": {{')
            lines += [f'            "{key}": {python_literal(value)},' for key, value in settings.items()]
            lines.append("        },")
        lines.append("    }")
    lines += ["", "    def __init__(", "        self,", "        *,"]
    for parameter in entry["parameters"]:
        default = python_literal(parameter["default"])
        lines += argument(parameter["name"], annotation(parameter), default)
    lines += [f"        {shared}: {kind} = {default}," for shared, default, kind, _, _ in shared_by(entry)]
    lines.append("    ) -> None:")
    lines += [f"        self.{n} = {n}" for n in names + [shared for shared, *_ in shared_by(entry)]]
    return lines


def engine():
    """The installed engine, without importing the package, whose estimators may not be written yet."""
    found = [
        file
        for file in files("ldlf")
        if file.name.startswith("_engine") and file.name.endswith(tuple(EXTENSION_SUFFIXES))
    ]
    path = str(found[0].locate())
    spec = spec_from_file_location("ldlf._engine", path, loader=ExtensionFileLoader("ldlf._engine", path))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def declared():
    """The learners of the installed engine."""
    return json.loads((sys.modules.get("ldlf._engine") or engine()).describe_learners())


def generate(entries, *, deep=False):
    """The text of the module of these learners: of those on deep networks, or of all others."""
    entries = [entry for entry in entries if on_network(entry) == deep]
    bases = sorted({"LDLEstimator", *map(base, entries)} - {"DeepEstimator"})
    imports = [f"from ._base import {', '.join(bases)}"]
    if deep:
        imports.append("from ._deep import DeepEstimator")
    what = "Every learner on a deep network" if deep else "Every learner"
    typing = "Any, Literal" if deep else "Any, Literal, TypedDict"
    lines = HEAD.format(what=what, typing=typing, imports="\n".join(imports)).splitlines()
    for entry in entries:
        lines += source(entry)
    name, of = ("DEEP_LEARNERS", "on a deep network ") if deep else ("LEARNERS", "")
    lines += ["", "", f"#: Every estimator {of}by its learner's name.", f"{name}: dict[str, type[LDLEstimator]] = {{"]
    lines += [f'    "{entry["name"]}": {class_name(entry["name"])},' for entry in entries]
    lines += ["}", "", "__all__ = ["]
    lines += [f'    "{class_name(entry["name"])}",' for entry in entries]
    lines.append("]")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    learners = json.load(sys.stdin) if sys.argv[1:] == ["-"] else declared()
    TARGET.write_text(generate(learners))
    if any(map(on_network, learners)):
        DEEP_TARGET.write_text(generate(learners, deep=True))
