"""Checkpoints of JAX: Orbax restores what is written here, and what it wrote is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("orbax.checkpoint")


def test_checkpoints_go_there_and_back(tmp_path: Path) -> None:
    script = Path(__file__).with_name("orbax_rounds.py")
    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
