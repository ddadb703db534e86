"""What the tests share. The library and the program are those of the installed package, or what RNTUPLE_LIBRARY and RNTUPLE_RNT name."""

from __future__ import annotations

from pathlib import Path

import exact
import pytest

import rntuple


@pytest.fixture(scope="session")
def dimuon() -> rntuple.Dataset:
    """80,000 events in ten clusters."""
    return rntuple.open(exact.ROOT / "testdata" / "dimuon.root")


@pytest.fixture
def script(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Makes a program of lines of a shell script, to take the place of rnt."""

    def make(*lines: str) -> str:
        path = tmp_path / "fake"
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)
        return str(path)

    return make


@pytest.fixture(params=["library", "program"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Has what reads and writes be the library, and then the program."""
    name: str = request.param
    monkeypatch.setenv("RNTUPLE_BACKEND", name)
    return name
