#!/usr/bin/env python3
"""Packs a binary as a wheel of the distribution `callwright-cli`, here: packaging/cli-python/wheel.py TARGET BINARY

The wheel is written without a tool for wheels, so that it holds the very binary that was tested, byte for byte.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Where a binary of the target runs. One that is linked statically against musl runs wherever the kernel does. One for
# glibc runs where it was built, so that its tag is one that no index takes.
PLATFORMS = {
    "x86_64-unknown-linux-musl": ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"),
    "aarch64-unknown-linux-musl": ("manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"),
    "x86_64-unknown-linux-gnu": ("linux_x86_64",),
    "aarch64-unknown-linux-gnu": ("linux_aarch64",),
    # What Rust builds for.
    "x86_64-apple-darwin": ("macosx_10_12_x86_64",),
    "aarch64-apple-darwin": ("macosx_11_0_arm64",),
}

METADATA = """\
Metadata-Version: 2.4
Name: callwright-cli
Version: {version}
Summary: The command callwright: a gateway, an agent and tools that make the tool calls of language models valid.
Keywords: llm,tool-calling,gateway,agent,json
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-MIT
License-File: LICENSE-APACHE
Classifier: Operating System :: MacOS
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Rust
Project-URL: Repository, https://github.com/callwright/callwright
Requires-Python: >=3.10
Description-Content-Type: text/markdown

{description}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: callwright
Root-Is-Purelib: false
"""

# Equal inputs make equal wheels: the first day that an archive can have.
DAY = (1980, 1, 1, 0, 0, 0)
FILE, PROGRAM = 0o100644, 0o100755


def packed(target: str, binary: Path) -> Path:
    """Writes the wheel, and returns its path."""
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    platforms = PLATFORMS[target]
    info = f"callwright_cli-{version}.dist-info"
    description = Path(__file__).with_name("README.md").read_text()
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms)
    files = [
        (f"callwright_cli-{version}.data/scripts/callwright", binary.read_bytes(), PROGRAM),
        (f"{info}/METADATA", METADATA.format(version=version, description=description).encode(), FILE),
        (f"{info}/WHEEL", (WHEEL + tags).encode(), FILE),
    ]
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        files.append((f"{info}/licenses/{name}", (ROOT / name).read_bytes(), FILE))
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content, _ in files)
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), FILE))
    wheel = Path(f"callwright_cli-{version}-py3-none-{'.'.join(platforms)}.whl")
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, DAY)
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in PLATFORMS:
        print(f"usage: {sys.argv[0]} TARGET BINARY, with a TARGET of {', '.join(PLATFORMS)}", file=sys.stderr)
        sys.exit(2)
    print(packed(sys.argv[1], Path(sys.argv[2])))
