"""Every example in a docstring, whether written in Python or in Rust, and in the README, prints what it says."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tilework
import tilework as tw

ROOT = Path(__file__).parent.parent.parent.parent
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NAMES = {"tw": tw, "np": np}


def modules() -> Iterator[str]:
    yield tilework.__name__
    for found in pkgutil.walk_packages(tilework.__path__, tilework.__name__ + "."):
        yield found.name


def members(owner: type, name: str) -> Iterator[tuple[str, str]]:
    """The public docstrings of a class, by the names that people use."""
    for key, member in vars(owner).items():
        if key.startswith("_"):
            continue
        called = f"{name}.{key}"
        if inspect.isclass(member):
            yield from members(member, called)
        if inspect.isroutine(member) or inspect.isdatadescriptor(member) or inspect.isclass(member):
            yield called, inspect.getdoc(member) or ""


def docstrings() -> dict[str, str]:
    """The docstrings of everything that the public modules show, also of what `doctest` does not look for."""
    found: dict[str, str] = {}
    for module in map(importlib.import_module, modules()):
        for key in getattr(module, "__all__", ()):
            member, called = getattr(module, key), f"{module.__name__}.{key}"
            if inspect.isclass(member):
                found.update(members(member, called))
            if inspect.isclass(member) or inspect.isroutine(member):
                found[called] = inspect.getdoc(member) or ""
    return {name: text for name, text in found.items() if not any(part.startswith("_") for part in name.split("."))}


def run(test: doctest.DocTest) -> None:
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    failed, _ = runner.run(test, out=told.append)
    assert failed == 0, "".join(told)


@pytest.mark.parametrize("name", list(modules()))
def test_examples_of_a_module_print_what_they_say(name: str) -> None:
    module = importlib.import_module(name)
    told = set(docstrings())
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs=dict(NAMES)):
        if test.name not in told:
            run(test)


@pytest.mark.parametrize("name", docstrings())
def test_examples_of_a_name_print_what_they_say(name: str) -> None:
    test = doctest.DocTestParser().get_doctest(docstrings()[name], dict(NAMES), name, name, 0)
    run(test)


@pytest.mark.parametrize("name", docstrings())
def test_every_public_name_is_told_in_sentences(name: str) -> None:
    text = docstrings()[name]
    assert text.strip(), f"{name} has no docstring"
    assert text.strip().split("\n\n")[0].rstrip().endswith((".", ":")), f"{name}: {text}"


SHOWN = ("tilework.Audit", "tilework.Layout", "tilework.Padding", "tilework.Suggestions", "tilework.Verdict")


@pytest.mark.parametrize("name", [name for name in docstrings() if name.startswith(SHOWN) and name.count(".") <= 2])
def test_every_question_to_a_layout_has_an_example(name: str) -> None:
    if not name.startswith("tilework.LayoutError."):
        assert ">>> " in docstrings()[name]


@pytest.mark.parametrize("name", ["README.md", "crates/tilework-python/README.md"])
def test_examples_of_the_readmes_print_what_they_say(name: str) -> None:
    text = re.sub("^```.*$", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    run(doctest.DocTestParser().get_doctest(text, dict(NAMES), name, name, 0))
