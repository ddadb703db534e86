#!/usr/bin/env python3
"""build.py [--out DIR] [--native | PLATFORM...]

Builds wheels of the package, each with the program rnt for its platform: for all of them, those named, or that of this
machine. Needs Go and hatchling, and the page that rnt prints, which "go generate ./viewer" makes; with --native, which is for
tests, it may be missing. The same commit, in a clean checkout, gives the same bytes.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# GOOS, GOARCH and the platform of the wheel. A program without cgo needs no C library, so that on Linux it does with glibc and
# with musl. Go 1.26 needs macOS 12.
PLATFORMS = {
    "linux-amd64": ("linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"),
    "linux-arm64": ("linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
    "macos-amd64": ("darwin", "amd64", "macosx_12_0_x86_64"),
    "macos-arm64": ("darwin", "arm64", "macosx_12_0_arm64"),
    "windows-amd64": ("windows", "amd64", "win_amd64"),
}

# Without pages of gRPC and a codec of JSON for Arrow that nothing uses: see docs/notes/size.md.
TAGS = "-tags=grpcnotrace,arrow_json_stdlib"


def native() -> str:
    """Returns the platform of this machine."""
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine().lower())
    return f"{system}-{machine}"


def epoch() -> str:
    """Returns the time that the files in the wheels have: that of the commit, as far as there is one."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return given
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=HERE, capture_output=True, text=True)
    return commit.stdout.strip() or "1577836800"


def build(name: str, out: Path, scratch: Path) -> None:
    goos, goarch, tag = PLATFORMS[name]
    program = scratch / name / "rnt"
    go = ["go", "build", "-trimpath", "-ldflags=-s -w", TAGS, "-o", str(program), "./cmd/rnt"]
    subprocess.run(go, cwd=ROOT, check=True, env=os.environ | {"CGO_ENABLED": "0", "GOOS": goos, "GOARCH": goarch})
    program.chmod(0o755)
    wheel = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)]
    env = {"RNTUPLE_WHEEL_PROGRAM": str(program), "RNTUPLE_WHEEL_PLATFORM": tag, "SOURCE_DATE_EPOCH": epoch()}
    subprocess.run(wheel, cwd=HERE, check=True, env=os.environ | env)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "dist", help="the folder of the wheels (default dist)")
    parser.add_argument("--native", action="store_true", help="only for this machine")
    parser.add_argument("platforms", metavar="PLATFORM", nargs="*", help=", ".join(PLATFORMS))
    args = parser.parse_args()
    names = [native()] if args.native else args.platforms or list(PLATFORMS)
    for name in names:
        if name not in PLATFORMS:
            parser.error(f"there is no wheel for {name}, only for {', '.join(PLATFORMS)}")
    if not args.native and not (ROOT / "viewer" / "dist" / "rnt.wasm.zst").exists():
        parser.error('rnt would be without its page, which "go generate ./viewer" makes')
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            build(name, args.out.resolve(), Path(scratch))


main()
