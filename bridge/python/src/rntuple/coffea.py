"""coffea's NanoEvents of RNTuples, read by this package:

    import rntuple.coffea
    from coffea.nanoevents import NanoAODSchema

    events = rntuple.coffea.factory("nano.root:Events", schemaclass=NanoAODSchema).events()
    events.Jet.pt

Columns are read when they are first used, as with NanoEventsFactory.from_root.
"""

from __future__ import annotations

import json
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import awkward
import numpy
from coffea.nanoevents import NanoAODSchema, NanoEventsFactory
from coffea.nanoevents.mapping.base import BaseSourceMapping, UUIDOpener
from coffea.nanoevents.mapping.uproot import CannotBeNanoEvents, _lazify_form

from ._dataset import Dataset, open
from ._program import Path


def factory(
    source: Dataset | Path | Sequence[Path],
    *,
    schemaclass: Any = NanoAODSchema,
    metadata: Any = None,
    mode: str = "virtual",
    entry_start: int | None = None,
    entry_stop: int | None = None,
    access_log: list[Any] | None = None,
) -> Any:
    """Returns a NanoEventsFactory of a Dataset, or what open() takes.

    mode is "virtual", which reads columns when they are used, or "eager". entry_start and entry_stop choose entries.
    """
    if mode not in ("virtual", "eager"):
        raise ValueError(f'mode is {mode!r}, neither "virtual" nor "eager"')
    dataset = source if isinstance(source, Dataset) else open(source)
    start, stop, _ = slice(entry_start, entry_stop).indices(dataset.num_entries)
    # The key need only tell datasets apart: columns are read by the dataset itself.
    name = dataset._description()["name"]
    identity = str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([dataset.paths, name])))
    mapping = Mapping(Opener({identity: {name: dataset}}), start, stop, access_log=access_log, virtual=mode == "virtual")
    base = mapping._extract_base_form(dataset)
    base["typenames"] = dataset.typenames()
    return NanoEventsFactory._from_mapping(
        mapping, (identity, name, f"{start}-{stop}"), base, schemaclass, metadata, mode=mode
    )


class Opener(UUIDOpener):  # type: ignore[misc]
    def open_uuid(self, identity: str) -> Any:
        return self._uuid_pfnmap[identity]


class Mapping(BaseSourceMapping):  # type: ignore[misc]
    """Reads columns. coffea asks for offsets and contents one by one, so the last columns are kept."""

    kept = 8

    def setup(self) -> None:
        super().setup()
        self._columns: OrderedDict[tuple[str, int, int], awkward.Array] = OrderedDict()

    @classmethod
    def _extract_base_form(cls, dataset: Dataset) -> dict[str, Any]:
        """Returns the form of the dataset as coffea's schemas take it, of the fields whose names they can."""
        names, forms = [], []
        empty = dataset.arrays(entry_stop=0)
        for name in dataset.keys():
            if "," in name or "!" in name or name not in empty.fields:
                continue
            field = dataset[name]
            own = json.loads(empty[name].layout.form.to_json())
            try:
                forms.append(_lazify_form(own, f"{name},!load", docstr=field.description, typestr=field.typename))
            except CannotBeNanoEvents:
                continue
            names.append(name)
        parameters = {"__doc__": dataset._description()["description"]}
        return {"class": "RecordArray", "fields": names, "contents": forms, "parameters": parameters, "form_key": None}

    def key_root(self) -> str:
        return "RNTupleMapping:"

    def get_column_handle(self, columnsource: Dataset, name: str, allow_missing: bool) -> Any:
        return None if allow_missing and name not in columnsource else columnsource[name]

    def extract_column(self, columnhandle: Any, start: int, stop: int, allow_missing: bool, **_: Any) -> awkward.Array:
        if columnhandle is None:
            missing = awkward.index.Index64(numpy.full(stop - start, -1, dtype=numpy.int64))
            return awkward.contents.IndexedOptionArray(missing, awkward.contents.NumpyArray(numpy.array([], dtype=bool)))
        key = columnhandle.path, start, stop
        array = self._columns.pop(key, None)
        if array is None:
            array = columnhandle.array(entry_start=start, entry_stop=stop)
        self._columns[key] = array
        if len(self._columns) > self.kept:
            self._columns.popitem(last=False)
        if allow_missing:
            there = awkward.index.Index64(numpy.arange(stop - start, dtype=numpy.int64))
            return awkward.contents.IndexedOptionArray(there, array.layout)
        return array

    def __len__(self) -> int:
        return int(self._stop - self._start)

    def __iter__(self) -> Any:
        raise NotImplementedError
