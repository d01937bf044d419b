"""Finds the command `callwright`, which a package of its own brings."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

__all__ = ["command"]


def command() -> str:
    """Returns the path of the command: what `CALLWRIGHT_BIN` names, that of `callwright-cli`, or the first on the path.

    Raises `FileNotFoundError` where there is none, and where `CALLWRIGHT_BIN` names none.
    """
    named = os.environ.get("CALLWRIGHT_BIN")
    if named:
        if not _is_program(Path(named)):
            raise FileNotFoundError(f"CALLWRIGHT_BIN names no program: {named}")
        return named
    for path in _installed():
        if _is_program(path):
            return str(path)
    found = shutil.which("callwright")
    if found is None:
        raise FileNotFoundError("the command `callwright` is not installed: pip install 'callwright[cli]'")
    return found


def _installed() -> Iterator[Path]:
    """The places where `callwright-cli` may have put it."""
    try:
        distribution = importlib.metadata.distribution("callwright-cli")
    except importlib.metadata.PackageNotFoundError:
        return
    for file in distribution.files or ():
        if file.name == "callwright":
            yield Path(str(file.locate()))
    # `pip install --target` lists it where it would be in an environment, and puts it here.
    yield Path(str(distribution.locate_file("bin/callwright")))


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
