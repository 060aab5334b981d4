"""Every example in a docstring, in Python and in Rust, and in the README, prints what it says."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tilework
import tilework as tw

README = Path(__file__).parent.parent / "README.md"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NAMES = {"tw": tw, "np": np}


def modules() -> Iterator[str]:
    yield tilework.__name__
    for found in pkgutil.walk_packages(tilework.__path__, tilework.__name__ + "."):
        yield found.name


def members(owner: object, name: str) -> Iterator[tuple[str, str]]:
    """The docstrings of an owner of the extension, which `doctest` does not look for, by name."""
    for key, member in vars(owner).items():
        called = f"{name}.{key}"
        if inspect.isclass(member) and (member.__module__ or "").split(".")[0] == "tilework":
            yield called, member.__doc__ or ""
            yield from members(member, called)
        elif inspect.ismodule(member) and member.__name__.startswith("tilework"):
            yield from members(member, called)
        elif callable(member) or inspect.isgetsetdescriptor(member) or isinstance(member, classmethod):
            yield called, inspect.getdoc(member) or ""


def docstrings() -> dict[str, str]:
    """The public docstrings of the extension."""
    found = dict(members(tilework._tilework, "_tilework"))
    return {name: text for name, text in found.items() if not name.split(".")[-1].startswith("_")}


def run(test: doctest.DocTest) -> None:
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    failed, _ = runner.run(test, out=told.append)
    assert failed == 0, "".join(told)


@pytest.mark.parametrize("name", list(modules()))
def test_examples_of_a_module_print_what_they_say(name: str) -> None:
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs=dict(NAMES)):
        run(test)


@pytest.mark.parametrize("name", docstrings())
def test_examples_written_in_rust_print_what_they_say(name: str) -> None:
    test = doctest.DocTestParser().get_doctest(docstrings()[name], dict(NAMES), name, name, 0)
    run(test)


@pytest.mark.parametrize("name", docstrings())
def test_every_public_name_of_the_extension_is_told_in_sentences(name: str) -> None:
    text = docstrings()[name]
    assert text.strip(), f"{name} has no docstring"
    assert text.strip().split("\n\n")[0].rstrip().endswith((".", ":")), f"{name}: {text}"


def test_examples_of_the_readme_print_what_they_say() -> None:
    text = README.read_text(encoding="utf-8")
    run(doctest.DocTestParser().get_doctest(text, dict(NAMES), README.name, str(README), 0))
