"""Runs a notebook in a few lines, without Jupyter: `python tests/notebook.py FILE` writes what its cells show into it."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def read(path: Path) -> dict[str, Any]:
    """The notebook as the file has it."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def lines(text: str) -> list[str]:
    """A text as notebooks store it."""
    return text.splitlines(keepends=True)


def run(notebook: dict[str, Any]) -> None:
    """Runs the cells one after another, and puts what they print and show into them."""
    names: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = outputs("".join(cell["source"]), names, count)


def outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What a cell prints, and what its last expression is."""
    parsed = ast.parse(source)
    last = parsed.body.pop() if parsed.body and isinstance(parsed.body[-1], ast.Expr) else None
    shown = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(parsed, f"cell {count}", "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if shown is not None:
        data = {"text/plain": lines(repr(shown))}
        if hasattr(shown, "_repr_html_"):
            data = {"text/html": lines(shown._repr_html_()), **data}
        found.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return found


if __name__ == "__main__":
    for name in sys.argv[1:]:
        made = read(Path(name))
        run(made)
        Path(name).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
