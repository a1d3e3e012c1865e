"""The examples of the PyTorch modules run."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["ldlf.torch", "ldlf._torch_head", "ldlf._torch_exchange"])
def test_the_examples_in_docstrings_run(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0 and result.attempted > 0
