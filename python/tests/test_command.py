"""Where the command is found, and that `python -m callwright` is it."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

import callwright
from callwright._command import command

ROOT = Path(__file__).parents[2]
BINARY = os.environ.get("CALLWRIGHT_BIN", str(ROOT / "target/debug/callwright"))


def run(env: Mapping[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "callwright", *arguments]
    return subprocess.run(line, env={**os.environ, **env}, capture_output=True, text=True, check=False)


def test_the_module_is_the_command() -> None:
    version = run({"CALLWRIGHT_BIN": BINARY}, "--version")
    assert (version.returncode, version.stdout) == (0, f"callwright {callwright.__version__}\n")
    assert run({"CALLWRIGHT_BIN": BINARY}, "no-such-command").returncode == 2


def test_without_the_command_it_says_how_to_install_it(tmp_path: Path) -> None:
    missing = run({"CALLWRIGHT_BIN": "", "PATH": str(tmp_path)}, "--version")
    assert missing.returncode == 127
    assert missing.stderr.endswith("not installed: pip install 'callwright[cli]'\n")


def test_a_name_that_is_no_program_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        monkeypatch.setenv("CALLWRIGHT_BIN", str(path))
        with pytest.raises(FileNotFoundError, match="CALLWRIGHT_BIN"):
            command()


def test_the_one_of_the_package_comes_before_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CALLWRIGHT_BIN", raising=False)
    on_path, installed, target = tmp_path / "path", tmp_path / "bin", tmp_path / "site/bin"
    for folder in (on_path, installed, target):
        folder.mkdir(parents=True)
        (folder / "callwright").touch(0o755)
    monkeypatch.setenv("PATH", str(on_path))
    assert command() == str(on_path / "callwright")
    # As an installer leaves it: a list of the files, from the folder of the packages.
    info = tmp_path / "site/callwright_cli-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: callwright-cli\nVersion: 0.1.0\n")
    (info / "RECORD").write_text("../bin/callwright,,\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert Path(command()).resolve() == installed / "callwright"
    (installed / "callwright").unlink()
    assert command() == str(target / "callwright")


def test_the_extra_is_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["cli"] == [f"callwright-cli=={callwright.__version__}"]
