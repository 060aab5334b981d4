"""The notebooks run, and show what is stored in them."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

import notebook

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored_in_it(path: Path) -> None:
    stored = notebook.read(path)
    made = copy.deepcopy(stored)
    notebook.run(made)
    for before, after in zip(stored["cells"], made["cells"], strict=True):
        assert after == before, "python tests/notebook.py FILE writes what it shows today"


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS
