"""The examples of the PyTorch module run."""

import doctest

import ldlf.torch


def test_the_examples_in_docstrings_run():
    result = doctest.testmod(ldlf.torch)
    assert result.failed == 0 and result.attempted > 0
