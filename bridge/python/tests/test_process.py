"""What may go wrong: damaged files, programs that fail or are killed, readers that are left alone."""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import duckdb
import exact
import polars as pl
import pyarrow as pa
import pytest

import rntuple

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs here are shell scripts, and signals differ")

DIMUON = exact.ROOT / "testdata" / "dimuon.root"


def children() -> list[int]:
    """Returns the processes that this one has started and that still exist, as zombies, too."""
    listed = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if line.split()[1] != "ps"]


def open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0


@pytest.fixture(autouse=True)
def by_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNTUPLE_BACKEND", "program")


@pytest.fixture(autouse=True)
def leaves_nothing() -> None:
    """Neither processes nor open files remain."""
    gc.collect()
    before = open_files()
    yield
    gc.collect()
    assert not children()
    assert open_files() <= before


@pytest.fixture
def stream(dimuon: rntuple.Dataset, tmp_path: Path) -> Path:
    """A file with what rnt arrow prints."""
    path = tmp_path / "stream"
    path.write_bytes(subprocess.run([rntuple.program(), "arrow", str(DIMUON)], capture_output=True, check=True).stdout)
    return path


def every_way(dataset: rntuple.Dataset) -> None:
    """Reads a Dataset in every way, each of which must fail."""
    for read in (
        lambda: dataset.arrow().read_all(),
        lambda: list(dataset.arrow()),
        lambda: dataset.arrow().read_pandas(),
        dataset.pandas,
        dataset.polars,
        dataset.awkward,
    ):
        with pytest.raises(rntuple.Error):
            read()
    for read in (lambda: dataset.duckdb().fetchall(), lambda: pl.DataFrame(dataset), lambda: pa.table(dataset)):
        with pytest.raises(Exception, match=".") as failed:
            read()
        assert isinstance(failed.value, (rntuple.Error, duckdb.Error, pl.exceptions.PolarsError, pa.ArrowException, OSError))


def test_missing_file(tmp_path: Path) -> None:
    dataset = rntuple.open(tmp_path / "none.root")
    every_way(dataset)
    with pytest.raises(rntuple.Error, match=r"none\.root: no such file"):
        dataset.num_entries
    with pytest.raises(rntuple.Error, match="unknown format"):
        rntuple.open(__file__).schema


def test_truncated(tmp_path: Path) -> None:
    """A file that is cut is an error, unless only what other programs need is missing."""
    whole = DIMUON.read_bytes()
    want = rntuple.open(DIMUON).arrow().read_all()
    path, errors = tmp_path / "cut.root", 0
    sizes = [0, 3, 100, 5_000, len(whole) // 2, len(whole) - 3_000, len(whole) - 1]
    for size in sizes:
        path.write_bytes(whole[:size])
        try:
            assert rntuple.open(path).arrow().read_all().equals(want)
        except rntuple.Error as e:
            assert "cut.root" in str(e)
            errors += 1
    assert errors >= 5


def test_flipped(tmp_path: Path) -> None:
    """A damaged byte is an error, or makes no difference."""
    whole = DIMUON.read_bytes()
    want = rntuple.open(DIMUON).arrow().read_all()
    path = tmp_path / "flipped.root"
    rng, errors = random.Random(1), 0
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            assert rntuple.open(path).arrow().read_all().equals(want)
        except rntuple.Error:
            errors += 1
    assert errors > 50


def test_damaged_in_the_middle(tmp_path: Path) -> None:
    """The first clusters come, then an error, in every way of reading."""
    damaged = bytearray(DIMUON.read_bytes())
    middle = len(damaged) // 2
    damaged[middle : middle + 64] = bytes(64)
    path = tmp_path / "middle.root"
    path.write_bytes(damaged)
    reader, rows = rntuple.open(path).arrow(), 0
    with pytest.raises(rntuple.Error, match="checksum") as failed:
        for batch in reader:
            rows += batch.num_rows
    assert 0 < rows < 80_000 and failed.value.status == 1
    with pytest.raises(rntuple.Error, match="checksum"):  # and again
        reader.read_next_batch()
    every_way(rntuple.open(path))


def test_killed(dimuon: rntuple.Dataset) -> None:
    reader = dimuon.arrow(batch_size=100)
    reader.read_next_batch()
    (child,) = children()
    os.kill(child, signal.SIGKILL)
    with pytest.raises(rntuple.Error, match="rnt was ended by SIGKILL") as failed:
        reader.read_all()
    assert failed.value.status == -signal.SIGKILL


def test_every_end(script, stream: Path) -> None:  # type: ignore[no-untyped-def]
    """A stream that ends early, wherever it does, is an error, with a good exit status, too."""
    size = stream.stat().st_size
    ends = [0, 1, 4, 8, 100, size // 2, size - 9, size - 8, size - 5, size - 4, size - 1]
    with pa.ipc.open_stream(stream) as reader:  # and between messages
        ends += [1000 + len(reader.schema.serialize()) + 8]
    for end in ends:
        for status in (0, 1):
            broken = rntuple.open("x", rnt=script(f"head -c {end} '{stream}'", "echo rnt: such a pity >&2", f"exit {status}"))
            with pytest.raises(rntuple.Error, match="such a pity" if status else "ends too early"):
                broken.arrow().read_all()
    every_way(rntuple.open("x", rnt=script(f"head -c {size - 8} '{stream}'")))
    whole = rntuple.open("x", rnt=script(f"cat '{stream}'"))
    assert whole.arrow().read_all().num_rows == 80_000
    late = rntuple.open("x", rnt=script(f"cat '{stream}'", "echo rnt: too late >&2", "exit 1"))
    with pytest.raises(rntuple.Error, match="too late") as failed:
        late.arrow().read_all()
    assert failed.value.status == 1
    every_way(late)
    some = rntuple.open("x", rnt=script(f"cat '{stream}'", "echo rnt: left out >&2", "exit 3"))
    with pytest.warns(UserWarning, match="left out"):
        assert some.arrow().read_all().num_rows == 80_000


def test_messages(script, stream: Path) -> None:  # type: ignore[no-untyped-def]
    """Many messages do not block the program, and become warnings if it succeeds."""
    noisy = rntuple.open("x", rnt=script("for i in $(seq 20000); do echo rnt: careful $i >&2; done", f"cat '{stream}'"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        noisy.arrow().read_all()
    assert [str(w.message) for w in caught] == [f"careful {i}" for i in range(1, 20_001)]
    assert {Path(w.filename) for w in caught} == {Path(__file__)}


def test_program(tmp_path: Path) -> None:
    """Where rnt is looked for."""
    for rnt in (tmp_path / "none", tmp_path):
        with pytest.raises(rntuple.Error, match="cannot be started"):
            rntuple.open(DIMUON, rnt=rnt).arrow()
    package = tmp_path / "lib" / "rntuple"
    shutil.copytree(Path(rntuple.__file__).parent, package, ignore=shutil.ignore_patterns("bin"))

    def program(**env: str) -> str:
        env = {**os.environ, "RNTUPLE_RNT": "", "PYTHONPATH": str(tmp_path / "lib"), "PATH": str(tmp_path), **env}
        code = "import rntuple\ntry: print(rntuple.program())\nexcept rntuple.Error as e: print(e)"
        return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout.strip()

    assert program().startswith("the program rnt is missing")
    for path in (tmp_path / "rnt", package / "bin" / "rnt"):  # the later ones win
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
        path.chmod(0o755)
        assert program() == str(path)
    assert program(RNTUPLE_RNT="/elsewhere/rnt") == "/elsewhere/rnt"


def test_command(dimuon: rntuple.Dataset) -> None:
    """python -m rntuple is rnt."""
    done = subprocess.run([sys.executable, "-m", "rntuple", "ls", str(DIMUON)], capture_output=True, text=True, check=True)
    assert "80,000" in done.stdout
    assert subprocess.run([sys.executable, "-m", "rntuple", "nonsense"], capture_output=True).returncode == 2


@pytest.mark.parametrize("how", ["with", "close", "drop", "schema", "iterator", "exception", "duckdb"])
def test_left(dimuon: rntuple.Dataset, how: str) -> None:
    """Readers that are closed or dropped before their end end the process: see leaves_nothing."""
    reader = dimuon.arrow(batch_size=10)
    if how == "with":
        with reader:
            reader.read_next_batch()
        assert not children()
    elif how == "close":
        reader.close()
        reader.close()
        assert not children()
        with pytest.raises(ValueError, match="closed"):
            reader.read_next_batch()
    elif how == "iterator":
        for _ in reader:
            break
    elif how == "exception":
        with pytest.raises(ZeroDivisionError), reader:
            1 / 0
    elif how == "duckdb":
        assert len(duckdb.from_arrow(reader).limit(1).fetchall()) == 1
    elif how == "drop":
        reader.read_next_batch()
    del reader


def test_interrupt(script, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Ctrl-C while a program is awaited ends the program, too."""
    pid = tmp_path / "pid"
    waiting = script(f"echo $$ > '{pid}.new'", f"mv '{pid}.new' '{pid}'", "exec sleep 60")
    code = "import rntuple, sys; rntuple.open('x', rnt=sys.argv[1]).arrow()"
    process = subprocess.Popen([sys.executable, "-c", code, waiting], stderr=subprocess.PIPE, text=True)
    while not pid.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in stderr and "ResourceWarning" not in stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_thousand(dimuon: rntuple.Dataset) -> None:
    """Many short reads leave nothing behind: see leaves_nothing."""
    for i in range(1000):
        reader = dimuon.arrow("run", entries=(i, i + 1))
        if i % 3 == 0:
            assert reader.read_all().num_rows == 1
        elif i % 3 == 1:
            reader.close()
        assert open_files() < 100


def test_threads(dimuon: rntuple.Dataset) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        tables = list(pool.map(lambda i: dimuon.arrow("event", entries=(i * 100, i * 100 + 100)).read_all(), range(20)))
    assert pa.concat_tables(tables).equals(dimuon.arrow("event", entries=(0, 2000)).read_all())


def test_fork(dimuon: rntuple.Dataset) -> None:
    """A forked process that drops a reader does not end that of its parent."""
    reader = dimuon.arrow(batch_size=100)
    reader.read_next_batch()
    if (child := os.fork()) == 0:
        del reader
        os._exit(0)
    os.waitpid(child, 0)
    assert reader.read_all().num_rows == 80_000 - 100
