"""Compares Tilework with the real systems: `python run.py [NAME ...] [--seed N] [--cases N] [--write] [--broken] [--corpus DIR]`."""

from __future__ import annotations

import argparse
import importlib
import json
import random
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import corpus
from common import Check, Run, Skipped

SYSTEMS = ("numpy", "einops", "jax", "tpu", "mosaic", "onednn", "triton", "mlir", "cute", "tensor_layouts", "zarr", "gguf", "tvm", "torch")
BEGIN, END = "<!-- oracles: begin -->", "<!-- oracles: end -->"
HEAD = ("notation", "real system", "compared", "cases", "offsets", "result")


@dataclass
class Row:
    """A line of the matrix, and what differed."""

    cells: list[str]
    differences: list[str]
    known: list[str]
    compared: bool
    kept: list[dict[str, Any]] = field(default_factory=list)
    """Cases for the corpus."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare Tilework with the real systems.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SYSTEMS)}; all where none is given")
    parser.add_argument("--seed", type=int, default=0, help="what random cases are drawn from")
    parser.add_argument("--cases", type=int, default=300, help="random cases of each check")
    parser.add_argument("--write", action="store_true", help="put the matrix into COMPARE.md")
    parser.add_argument("--child", help=argparse.SUPPRESS)  # where this process, for one system, writes its rows
    parser.add_argument("--broken", action="store_true", help="shift one offset in each check: every one must differ")
    parser.add_argument("--corpus", metavar="DIR", help="write some cases there, from which the corpus is made")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in SYSTEMS]
    if unknown:
        parser.error(f"no system {', '.join(unknown)}; there are {', '.join(SYSTEMS)}")
    if options.write and (options.names or options.broken):
        parser.error("--write is for the whole matrix: no names, and not --broken")
    if options.corpus and options.broken:
        parser.error("--broken shifts offsets: not with --corpus")
    if options.child:
        rows = system(options.names[0], options)
        Path(options.child).write_text(json.dumps([asdict(row) for row in rows]), encoding="utf-8")
        return 0
    rows = []
    for name in options.names or SYSTEMS:
        began = time.monotonic()
        found = apart(name, options)
        rows += found
        kept = [case for row in found for case in row.kept]
        if kept:
            corpus.write(Path(options.corpus), name, found[0].cells[1], kept)
        print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr)
    table = matrix(rows)
    print(table)
    for title, lines in (("differ", [d for row in rows for d in row.differences[:5]]), ("known", known(rows))):
        if lines:
            print(f"\n{title}:\n" + "\n".join(f"  {line}" for line in lines))
    if options.write:
        write(table)
    if options.broken:
        blind = [row.cells for row in rows if row.compared and not row.differences]
        print("\n".join(f"does not notice a shifted offset: {cells}" for cells in blind))
        return 1 if blind else 0
    return 1 if any(row.differences for row in rows) else 0


def apart(name: str, options: argparse.Namespace) -> list[Row]:
    """The rows of one system, from a process of its own: libraries of two systems may not bear one another."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.json")
        words = [sys.executable, __file__, name, "--seed", str(options.seed), "--cases", str(options.cases)]
        words += ["--child", str(file), *(["--broken"] if options.broken else [])]
        words += ["--corpus", options.corpus] if options.corpus else []
        ended = subprocess.run(words, check=False, capture_output=True, text=True)
        if file.exists():
            return [Row(**row) for row in json.loads(file.read_text(encoding="utf-8"))]
    said = (ended.stderr.strip() or "nothing").splitlines()
    why = f"{name}: its process ended with {ended.returncode}; it said:\n    " + "\n    ".join(said[-12:])
    return [Row([name, name, "", "", "", "**did not end well**"], [why], [], True)]


def system(name: str, options: argparse.Namespace) -> list[Row]:
    """The rows of one system."""
    try:
        module = importlib.import_module(f"{name}_")
        title: str = module.version()
    except (ImportError, OSError, Skipped) as error:
        return [Row([name, name, "", "", "", f"not compared: {reason(error)}"], [], [], False)]
    return [row(check, name, title, options) for check in module.CHECKS]


def row(check: Check, name: str, title: str, options: argparse.Namespace) -> Row:
    # Each check draws for itself: another one more or less does not change its cases.
    draw = random.Random(f"{options.seed}/{name}/{check.notation}/{check.what}")
    run = Run(draw, options.cases, options.broken)
    if options.corpus and check.what not in corpus.LEFT_OUT:
        run.kept = {}
    try:
        check.run(run)
    except Skipped as error:
        return Row([check.notation, title, check.what, "", "", f"not compared: {error}"], [], [], False)
    except Exception:
        run.differs(f"{check.notation}, {check.what}: {traceback.format_exc()}")
    if not run.cases:
        run.differs(f"{check.notation}, {check.what}: no case was compared")
    result = f"**{len(run.differences)} differ**" if run.differences else "equal"
    if run.known:
        result += f"; {len(run.known)} known to differ"
    for note in [*run.notes, *(f"{count} not read: {words}" for words, count in run.unread.items() if count)]:
        result += f"; {note}"
    cells = [check.notation, title, check.what, f"{run.cases:,}", f"{run.offsets:,}", result]
    kept = [{**case, "how": check.what} for case in corpus.chosen(list((run.kept or {}).values()))]
    return Row(cells, run.differences, run.known, True, kept)


def known(rows: list[Row]) -> list[str]:
    return [line for row in rows for line in row.known]


def reason(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"package `{error.name}` is not installed"
    return str(error).splitlines()[0]


def matrix(rows: list[Row]) -> str:
    """The table in Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "|---|---|---|---:|---:|---|"]
    lines += [f"| {' | '.join(row.cells)} |" for row in rows]
    return "\n".join(lines)


def write(table: str) -> None:
    """Replaces what COMPARE.md has between the two markers."""
    page = Path(__file__).resolve().parent.parent / "COMPARE.md"
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no place for the matrix: {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
