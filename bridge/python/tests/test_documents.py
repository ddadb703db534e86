"""What the documents show runs as written."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import exact
import pytest

import rntuple


def readme() -> str:
    return (exact.ROOT / "bridge" / "python" / "README.md").read_text()


def test_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(exact.ROOT)
    text = "".join(re.findall(r"(?s)```pycon\n(.*?)```", readme()))
    example = doctest.DocTestParser().get_doctest(text, {}, "README.md", None, None)
    results = doctest.DocTestRunner().run(example)
    assert results.attempted >= 4 and not results.failed


def test_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "events.root").write_bytes((exact.ROOT / "testdata" / "dimuon.root").read_bytes())
    code = "\n".join(re.findall(r"(?s)```python\n(.*?)```", readme()))
    names: dict[str, object] = {}
    exec(code, names)
    assert rntuple.open("muons.root", "Muons").num_entries == 80_000


def test_docstrings() -> None:
    """Everything public is documented."""
    for name in rntuple.__all__:
        thing = getattr(rntuple, name)
        assert thing.__doc__, name
        for attribute, value in vars(thing).items() if isinstance(thing, type) else ():
            if not attribute.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{attribute}"
