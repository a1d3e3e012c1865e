#!/usr/bin/env python3
"""Writes `docs/reference/python.md` from the sources of the package: classes and functions with their first sentence.

    python3 bindings/python/tools/generate_reference.py

It reads the sources, so that nothing has to be installed. A test compares the page with what this gives; `help(ldlf.LDLForest)` says the rest.
"""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "ldlf"
TARGET = PACKAGE.parents[3] / "docs" / "reference" / "python.md"

MADE = "*Made from the sources of the package by `bindings/python/tools/generate_reference.py`; do not edit.*"

# The modules of the package that users import from.
MODULES = ["datasets", "scorers", "plot", "pipeline", "torch", "dask"]

# The classes whose methods all estimators have, and the files that define them.
SHARED = [
    ("_base", "LDLEstimator"),
    ("_base", "DistributionEstimator"),
    ("_explain", "ExplainsModels"),
    ("_files", "SavesModels"),
    ("_tables", "PredictsTables"),
]

# Other classes and functions of `ldlf` itself.
OBJECTS = [
    ("_files", "load"),
    ("_classifier", "LDLForestClassifier"),
    ("_regressor", "LDLForestRegressor"),
    ("_distribution", "LabelDistribution"),
    ("_explain", "Explanation"),
    ("_base", "Progress"),
]


def parsed(name: str) -> ast.Module:
    return ast.parse((PACKAGE / f"{name}.py").read_text())


def public(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")


def first_sentence(node: ast.AST) -> str:
    """What a docstring begins with, as Markdown for a cell of a table."""
    text = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`")
    return text.replace("|", "\\|").replace("<", "&lt;")


def signature(node: ast.FunctionDef) -> str:
    """The arguments with their defaults, without annotations and `self`."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    shown = [(a.arg, d) for a, d in zip(positional, defaults) if a.arg not in ("self", "cls")]
    named = list(zip((a.arg for a in arguments.kwonlyargs), arguments.kw_defaults))
    parts = [name if default is None else f"{name}={ast.unparse(default)}" for name, default in shown]
    if arguments.vararg:
        parts.append(f"*{arguments.vararg.arg}")
    elif named:
        parts.append("*")
    parts += [name if default is None else f"{name}={ast.unparse(default)}" for name, default in named]
    if arguments.kwarg:
        parts.append(f"**{arguments.kwarg.arg}")
    return ", ".join(parts)


def table(rows: list[tuple[str, str]], head: str) -> str:
    lines = [f"| {head} | what it does |", "|---|---|", *(f"| {name} | {help} |" for name, help in rows)]
    return "\n".join(lines) + "\n"


def methods(node: ast.ClassDef) -> list[tuple[str, str]]:
    found = []
    for item in node.body:
        if public(item) and isinstance(item, ast.FunctionDef) and ast.get_docstring(item):
            properties = {ast.unparse(mark).split(".")[-1].split("(")[0] for mark in item.decorator_list}
            called = item.name if properties & {"property", "available_if"} else f"{item.name}({signature(item)})"
            found.append((f"`{called}`", first_sentence(item)))
    return found


def learner_of(node: ast.ClassDef) -> str:
    """The learner's name in the registry."""
    for item in node.body:
        if isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) == "_learner":
            return ast.literal_eval(item.value)
    raise ValueError(f"{node.name} names no learner")


def estimators(module: str) -> list[tuple[str, str]]:
    """The classes of a module of estimators, each with its learner."""
    rows = []
    for node in filter(public, parsed(module).body):
        if not isinstance(node, ast.ClassDef) or ast.unparse(node.bases[0]) == "TypedDict":
            continue
        learner = learner_of(node)
        # The sentence ends with the learner's name, which leads the way here.
        about = re.sub(r" \(`[^`]*`\)\.$", ".", first_sentence(node))
        rows.append((f"`ldlf.{node.name}`", f"[`{learner}`](learners.md#{learner}): {about}"))
    return rows


def named(module: str, name: str) -> ast.AST:
    return next(node for node in parsed(module).body if public(node) and node.name == name)


def exported(module: str) -> list[ast.AST]:
    """The documented classes and functions that a module offers: its own, and those that it imports from its private neighbours."""
    tree = parsed(module)
    offered = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    found = [node for node in tree.body if public(node)]
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and (node.module or "").startswith("_"):
            names = {alias.name for alias in node.names if alias.asname is None}
            found += [item for item in parsed(node.module).body if public(item) and item.name in names]
    wanted = set(offered[0]) if offered else {node.name for node in tree.body if public(node)}
    return [node for node in found if node.name in wanted and ast.get_docstring(node)]


def page() -> str:
    text = [f"# Python\n\n{MADE}\n"]
    text.append(
        '`help(ldlf.LDLForest)` in Python says all: parameters, shapes, examples. <a href="../python/index.html">In the book</a> it has pages, '
        "which `bindings/python/tools/reference.py FOLDER` makes anywhere. "
        "Installation, and how it fits scikit-learn and PyTorch: [bindings/python](../../bindings/python/README.md).\n"
    )
    text.append(
        "## Estimators\n\nTheir parameters are those of the learners, as keyword arguments; all also take `label_values`, `sigma`, `random_state`, "
        f"`n_jobs` and `verbose`.\n\n{table(estimators('_estimators'), 'class')}"
    )
    text.append(
        '## Estimators on deep networks\n\nIn a build with deep networks ([install](../install.md)). Rows are images, or under `backbone="mlp"` a '
        f"table; `ldlf.DEEP_LEARNERS` lists them.\n\n{table(estimators('_deep_estimators'), 'class')}"
    )
    shared = [row for module, name in SHARED for row in methods(named(module, name))]
    text.append(f"## What every estimator does\n\n{table(shared, 'method')}")
    for module, name in OBJECTS:
        node = named(module, name)
        if isinstance(node, ast.FunctionDef):
            text.append(f"## ldlf.{name}\n\n`ldlf.{name}({signature(node)})`: {first_sentence(node)}\n")
        else:
            own = methods(node)
            text.append(f"## ldlf.{name}\n\n{first_sentence(node)}\n" + (f"\n{table(own, 'method')}" if own else ""))
    measured = "`ldlf.measures` has a function for [every measure](measures.md): `kl(y_true, y_pred, *, sample_weight=None)` and so on. `per_row(measure, y_true, y_pred, *, label_values=None)` gives one row by row."
    text.append(f"## ldlf.measures\n\n{measured}\n")
    for module in MODULES:
        rows = []
        for node in exported(module):
            called = f"{node.name}({signature(node)})" if isinstance(node, ast.FunctionDef) else node.name
            rows.append((f"`{called}`", first_sentence(node)))
            if isinstance(node, ast.ClassDef):
                rows += [(f"`{node.name}`.{call}", help) for call, help in methods(node)]
        about = first_sentence(parsed(module))
        text.append(f"## ldlf.{module}\n\n{about}\n" + (f"\n{table(rows, 'name')}" if rows else ""))
    return "\n".join(text)


if __name__ == "__main__":
    TARGET.write_text(page())
