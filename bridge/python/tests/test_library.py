"""The library in this process: errors, handles, threads, forks, signals."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import exact
import pyarrow as pa
import pytest

import rntuple

DIMUON = exact.ROOT / "testdata" / "dimuon.root"


@pytest.fixture(autouse=True)
def by_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNTUPLE_BACKEND", "library")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def cut(path: Path) -> Path:
    """Makes a file with a damaged middle."""
    damaged = bytearray(DIMUON.read_bytes())
    damaged[len(damaged) // 2 : len(damaged) // 2 + 64] = bytes(64)
    path.write_bytes(damaged)
    return path


def test_errors(dimuon: rntuple.Dataset, tmp_path: Path) -> None:
    """Errors are of Python's types, too, and have a plain text."""
    for read, kinds, text in (
        (lambda: rntuple.open(tmp_path / "none.root").num_entries, (rntuple.NotFoundError, FileNotFoundError), "none.root: no such file"),
        (lambda: rntuple.open(DIMUON, "none").keys(), (rntuple.NotFoundError, KeyError), 'RNTuple "none": not found'),
        (lambda: dimuon.arrow("none"), (rntuple.FieldError, KeyError), 'no field "none"'),
        (lambda: dimuon.arrow(where="nMuon = 2"), (rntuple.ExpressionError, ValueError), "equality is written =="),
        (lambda: dimuon.arrow(where="(nMuon == 2) & (run > 0)"), (rntuple.ExpressionError, ValueError), "write and"),
        (lambda: dimuon.arrow(batch_size=0), (rntuple.ArgumentError, ValueError), "batch_size"),
        (lambda: rntuple.open(__file__).schema, (rntuple.CorruptError,), "not a ROOT file"),
        (lambda: rntuple.open(cut(tmp_path / "cut.root")).arrays(), (rntuple.CorruptError,), "checksum"),
        (lambda: rntuple.open(cut(tmp_path / "cut.root")).arrow().read_all(), (rntuple.CorruptError,), "checksum"),
        (lambda: rntuple.write(DIMUON, {"x": [1]}), (rntuple.ExistsError, FileExistsError), "overwrite=True"),
    ):
        for kind in (rntuple.Error, *kinds):
            with pytest.raises(kind) as failed:
                read()
        assert text in str(failed.value) and str(failed.value)[0] != '"'
        assert str(pickle.loads(pickle.dumps(failed.value))) == str(failed.value)


def test_close() -> None:
    """A closed dataset cannot be read any more, but what it gave can."""
    before = open_files()
    with rntuple.open(DIMUON) as dataset:
        reader = dataset.arrow("run", batch_size=100)
        array = dataset.arrays("Muon_pt")
        assert open_files() > before
    for read in (dataset.arrow, lambda: dataset.arrays("run")):
        with pytest.raises(ValueError, match="closed"):
            read()
    dataset.close()
    assert reader.read_all().num_rows == len(array) == 80_000
    del reader
    gc.collect()
    assert open_files() == before
    rntuple.open(DIMUON).arrow("run").read_next_batch()
    gc.collect()
    assert open_files() == before


def test_lives() -> None:
    """Arrays share the memory of the library, and keep it."""
    array = rntuple.open(DIMUON).arrays(["run", "event"], entry_stop=5_000)
    want = rntuple.open(DIMUON).arrow("event", entry_stop=5_000).read_all()["event"].to_pylist()
    part = array.event[1_000:2_000].to_numpy()
    assert not part.flags.writeable
    del array
    gc.collect()
    rntuple.open(DIMUON).arrays()
    assert part.tolist() == want[1_000:2_000]


def test_pickle(dimuon: rntuple.Dataset) -> None:
    dimuon.arrays("run", entry_stop=1)
    for again in (pickle.loads(pickle.dumps(dimuon)), copy.copy(dimuon)):
        assert repr(again) == repr(dimuon) and again.num_entries == 80_000


def test_threads(dimuon: rntuple.Dataset) -> None:
    """One dataset is read by several threads, and a stream by another one than made it."""
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda i: dimuon.arrow("event", entry_start=i * 100, entry_stop=i * 100 + 100).read_all(), range(20)))
        reader = dimuon.arrow("event", batch_size=1000)
        batches = [pool.submit(reader.read_next_batch).result() for _ in range(80)]
    assert pa.concat_tables(parts).equals(dimuon.arrow("event", entries=(0, 2000)).read_all())
    assert sum(b.num_rows for b in batches) == 80_000


def test_capsules(dimuon: rntuple.Dataset, tmp_path: Path) -> None:
    """Capsules that nobody takes release what they have, and those that somebody takes do not disturb errors."""
    gc.collect()
    before = open_files()
    dataset = rntuple.open(DIMUON)
    made = [dataset.__arrow_c_stream__(), dataset.__arrow_c_schema__(), dataset["run"].__arrow_c_stream__()]
    dataset.close()
    assert open_files() > before
    del made
    assert open_files() == before
    assert pa.schema(dimuon) == dimuon.schema
    assert pa.table(dimuon).equals(dimuon.arrow().read_all())
    with pytest.raises(OSError, match="checksum"):
        pa.table(rntuple.open(cut(tmp_path / "cut.root")))


def test_fork(dimuon: rntuple.Dataset) -> None:
    """A forked process reads by the program, and does not disturb what its parent reads."""
    reader = dimuon.arrow("event", batch_size=100)
    array = dimuon.arrays("event")
    reader.read_next_batch()
    if (child := os.fork()) == 0:
        code = 1
        try:
            same = dimuon.arrow("event").read_all()["event"].to_pylist() == array.event.to_list()
            code = 0 if same and dimuon.num_entries == 80_000 else 2
        finally:
            del reader, array
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert reader.read_all().num_rows == 80_000 - 100


def test_backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What reads is chosen by the environment; a library that cannot be loaded is an error."""
    monkeypatch.setenv("RNTUPLE_BACKEND", "neither")
    with pytest.raises(ValueError, match="neither"):
        rntuple.open(DIMUON).keys()
    monkeypatch.setenv("RNTUPLE_BACKEND", "")
    monkeypatch.setenv("RNTUPLE_LIBRARY", str(tmp_path / "none.so"))
    with pytest.raises(rntuple.Error, match="RNTUPLE_BACKEND=program"):
        rntuple.open(DIMUON).keys()
    monkeypatch.setenv("RNTUPLE_BACKEND", "program")
    assert rntuple.open(DIMUON).num_entries == 80_000


def test_import() -> None:
    """Importing the package and opening a file imports nothing that takes long."""
    code = "import rntuple, sys; rntuple.open(sys.argv[1]).keys(); print(sorted({'pyarrow', 'awkward', 'numpy'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code, str(DIMUON)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def slow() -> Iterator[tuple[str, threading.Event]]:
    """A server that does not answer when pages are asked for: the URL of a file, and whether pages were."""
    data, asked, end = DIMUON.read_bytes(), threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            asks = self.headers["Range"].removeprefix("bytes=")
            if asks not in ("-65536", "0-65535"):  # what opening the file takes
                asked.set()
                end.wait()
            a, b = (0, 65_535) if asks[0] == "0" else (len(data) - 65_536, len(data) - 1)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {a}-{b}/{len(data)}")
            self.end_headers()
            self.wfile.write(data[a : b + 1])

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.handle_error = lambda *args: None  # type: ignore[method-assign]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/x.root", asked
        end.set()
        server.shutdown()


# A query of DuckDB can be interrupted while the main thread reads for it.
DUCKDB = "import duckdb; duckdb.sql('SET threads = 1'); duckdb.sql('SELECT sum(run) FROM d').fetchall()"


@pytest.mark.parametrize("read", ["d.arrays()", "d.arrow().read_all()", "d.arrays('run', 'nMuon == 2')", DUCKDB])
def test_interrupt(slow: tuple[str, threading.Event], read: str) -> None:
    """Ctrl-C ends what waits for data."""
    url, asked = slow
    code = f"import rntuple; d = rntuple.open({url!r})\n{read}"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    assert asked.wait(60)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert stderr.splitlines()[-1] == "KeyboardInterrupt" and process.returncode == -signal.SIGINT
