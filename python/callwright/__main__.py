"""`python -m callwright` runs the command `callwright` in place of Python."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from callwright._command import command

# What a shell says of a command that it does not find; the command's own codes mean other things.
_NOT_FOUND = 127


def main() -> NoReturn:
    """Runs the command with the arguments of this process."""
    try:
        path = command()
    except FileNotFoundError as error:
        print(f"callwright: {error}", file=sys.stderr)
        sys.exit(_NOT_FOUND)
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
