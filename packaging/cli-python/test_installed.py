"""The wheel of the command beside that of the package, installed without an index.

`CALLWRIGHT_WHEELS` names the folders of both.
"""

import base64
import csv
import hashlib
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

FOLDERS = os.environ["CALLWRIGHT_WHEELS"].split(os.pathsep)
(WHEEL,) = [wheel for folder in FOLDERS for wheel in Path(folder).glob("callwright_cli-*.whl")]
VERSION = WHEEL.name.split("-")[1]


def run(line: Sequence[str | Path], **env: str) -> "subprocess.CompletedProcess[str]":
    # Nothing else of that name is found.
    path = {"PATH": "/nonexistent", **env}
    return subprocess.run(line, env={**os.environ, **path}, capture_output=True, text=True, check=False)


def install(python: Path, *arguments: str) -> None:
    links = [word for folder in FOLDERS for word in ("--find-links", folder)]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "install", "--quiet"]
    done = subprocess.run([*pip, "--no-index", *links, *arguments, "callwright[cli]"], check=False)
    assert done.returncode == 0


def test_in_an_environment_it_is_a_program_and_a_module(tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=False, symlinks=True)
    python = tmp_path / "bin/python"
    install(python)
    lines: list[list[str | Path]] = [[tmp_path / "bin/callwright"], [python, "-m", "callwright"]]
    for line in lines:
        version = run([*line, "--version"])
        assert (version.returncode, version.stdout) == (0, f"callwright {VERSION}\n"), version.stderr
    assert run([python, "-m", "callwright", "no-such-command"]).returncode == 2


def test_in_a_folder_it_is_found_too(tmp_path: Path) -> None:
    install(Path(sys.executable), "--target", str(tmp_path))
    version = run([sys.executable, "-m", "callwright", "--version"], PYTHONPATH=str(tmp_path))
    assert (version.returncode, version.stdout) == (0, f"callwright {VERSION}\n"), version.stderr


def test_the_wheel_lists_what_it_holds() -> None:
    with zipfile.ZipFile(WHEEL) as archive:
        info = f"callwright_cli-{VERSION}.dist-info"
        record = {name: digest for name, digest, _ in csv.reader(archive.read(f"{info}/RECORD").decode().splitlines())}
        assert set(record) == set(archive.namelist())
        for name, digest in record.items():
            if digest:
                made = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
                assert digest == f"sha256={made}", name
        assert {f"{info}/licenses/LICENSE-MIT", f"{info}/licenses/LICENSE-APACHE"} <= set(record)


@pytest.mark.parametrize("package", ["callwright", "callwright_cli"])
def test_each_wheel_has_the_licences(package: str) -> None:
    (wheel,) = [wheel for folder in FOLDERS for wheel in Path(folder).glob(f"{package}-*.whl")]
    with zipfile.ZipFile(wheel) as archive:
        licences = {Path(name).name for name in archive.namelist() if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE-MIT", "LICENSE-APACHE"}


@pytest.mark.parametrize(
    ("target", "platforms"),
    [
        ("x86_64-unknown-linux-musl", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"),
        ("aarch64-apple-darwin", "macosx_11_0_arm64"),
    ],
)
def test_the_name_says_where_it_runs(tmp_path: Path, target: str, platforms: str) -> None:
    binary = shutil.copy("/bin/true", tmp_path / "callwright")
    packer = Path(__file__).with_name("wheel.py")
    subprocess.run([sys.executable, packer, target, binary], cwd=tmp_path, check=True)
    assert (tmp_path / f"callwright_cli-{VERSION}-py3-none-{platforms}.whl").is_file()
