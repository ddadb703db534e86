#!/usr/bin/env python3
"""build.py [--out DIR] [--native | PLATFORM...]

Builds wheels of the package, each with the program rnt for its platform, and librntuple where that can be built here: for all
of them, those named, or that of this machine. Needs Go and hatchling; ziglang, a C compiler for other systems, or with --native,
which is for tests, cc; and the page that rnt prints, which "go generate ./viewer" makes and which may be missing with --native.
The same commit, in a clean checkout, gives the same bytes.
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

# GOOS, GOARCH, the platform of the wheel, and zig's name for that of librntuple. A program without cgo needs no C library; the
# library needs glibc, and an old one will do, since musl cannot load libraries of Go (golang/go#13492). Those for macOS and
# Windows need headers that are not here. Go 1.26 needs macOS 12.
PLATFORMS = {
    "linux-amd64": ("linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64", "x86_64-linux-gnu.2.17"),
    "linux-arm64": ("linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64", "aarch64-linux-gnu.2.17"),
    "musl-amd64": ("linux", "amd64", "musllinux_1_1_x86_64", None),
    "musl-arm64": ("linux", "arm64", "musllinux_1_1_aarch64", None),
    "macos-amd64": ("darwin", "amd64", "macosx_12_0_x86_64", None),
    "macos-arm64": ("darwin", "arm64", "macosx_12_0_arm64", None),
    "windows-amd64": ("windows", "amd64", "win_amd64", None),
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


def build(name: str, out: Path, scratch: Path, cc: str | None) -> None:
    """Builds a wheel; cc is a C compiler for the platform, or None for zig's."""
    goos, goarch, tag, target = PLATFORMS[name]
    folder = scratch / name
    env = {"RNTUPLE_WHEEL_PROGRAM": str(folder / "rnt"), "RNTUPLE_WHEEL_PLATFORM": tag, "SOURCE_DATE_EPOCH": epoch()}
    system = os.environ | {"CGO_ENABLED": "0", "GOOS": goos, "GOARCH": goarch}
    program = ["go", "build", "-trimpath", "-ldflags=-s -w", TAGS, "-o", env["RNTUPLE_WHEEL_PROGRAM"], "./cmd/rnt"]
    subprocess.run(program, cwd=ROOT, check=True, env=system)
    if target:
        env["RNTUPLE_WHEEL_LIBRARY"] = str(folder / "librntuple.so")
        system["CC"] = cc or f"{sys.executable} -m ziglang cc -target {target}"
        script = ROOT / "bridge" / "librntuple" / "build.sh"
        subprocess.run(["bash", str(script), env["RNTUPLE_WHEEL_LIBRARY"], "-trimpath"], check=True, env=system)
    for file in folder.iterdir():
        file.chmod(0o755)
    wheel = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)]
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
            build(name, args.out.resolve(), Path(scratch), os.environ.get("CC", "cc") if args.native else None)


main()
