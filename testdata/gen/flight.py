#!/usr/bin/env python3
"""flight.py FOLDER LOCATION CRITERIA [CERTIFICATE TOKEN]

Reads all that the Arrow Flight server at LOCATION, which serves FOLDER, lists for CRITERIA: the endpoints of each RNTuple in
several threads. All fields that uproot can read must have equal values, in the first entries of those that are wide. Prints a line of JSON: how many RNTuples and fields
were compared, the largest number of endpoints that one had, and the fields that uproot did not read, with the reason.
"""
import concurrent.futures
import json
import math
import os
import sys

import awkward as ak
import pyarrow as pa
import pyarrow.flight as fl
import uproot


def plain(v):
    """Returns a value with lists in place of tuples, records and pairs, and None in place of NaN."""
    if isinstance(v, dict):
        return [plain(x) for x in v.values()]
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if isinstance(v, float) and math.isnan(v):
        return None
    return v.encode("utf-8", "surrogateescape") if isinstance(v, str) else v


def connect(location, certificate=None):
    if certificate is None:
        return fl.connect(location)
    with open(certificate, "rb") as f:
        return fl.connect(location, tls_root_certs=f.read())


def main(folder, location, criteria, certificate=None, token=None):
    client = connect(location, certificate)
    options = fl.FlightCallOptions(timeout=60)
    if token is not None:
        for wrong in (None, "Bearer " + token[:-1], "Basic " + token):
            headers = [] if wrong is None else [(b"authorization", wrong.encode())]
            try:
                list(client.list_flights(criteria.encode(), fl.FlightCallOptions(headers=headers)))
                sys.exit("no error for a wrong token")
            except fl.FlightUnauthenticatedError:
                pass
        options = fl.FlightCallOptions(timeout=60, headers=[(b"authorization", b"Bearer " + token.encode())])

    result = {"ntuples": 0, "fields": 0, "endpoints": 0, "unlisted": 0, "binary": 0, "left_out": []}
    pool = concurrent.futures.ThreadPoolExecutor(4)
    for listed in client.list_flights(criteria.encode(), options):
        if not listed.endpoints:
            result["unlisted"] += 1
            continue
        path = [p.decode() for p in listed.descriptor.path]
        info = client.get_flight_info(fl.FlightDescriptor.for_path(*path), options)
        ticket = listed.endpoints[0].ticket
        try:
            whole = client.do_get(ticket, options).read_all()
        except pa.ArrowNotImplementedError:  # strings that are not UTF-8
            query = json.dumps({"file": path[0], "ntuple": path[1], "binary": True})
            ticket = fl.Ticket(query)
            whole = client.do_get(ticket, options).read_all()
            info = client.get_flight_info(fl.FlightDescriptor.for_command(query), options)
            result["binary"] += 1
        tables = list(pool.map(lambda e: client.do_get(e.ticket, options).read_all(), info.endpoints))
        table = pa.concat_tables(tables) if tables else whole
        if info.schema != whole.schema or table.schema != whole.schema:
            sys.exit(f"{path}: {info.schema}, but {whole.schema}")
        if not (table.num_rows == whole.num_rows == info.total_records == listed.total_records):
            sys.exit(f"{path}: {table.num_rows} entries, {whole.num_rows} at once, {info.total_records} by its info")
        if not table.equals(whole) and plain(table.to_pylist()) != plain(whole.to_pylist()):  # NaN is not equal to itself
            sys.exit(f"{path}: other entries by endpoints than at once")
        result["ntuples"] += 1
        result["endpoints"] = max(result["endpoints"], len(info.endpoints))
        some = max(1000, 1_000_000 // len(table.schema.names))
        with uproot.open(os.path.join(folder, path[0])) as f:
            for name in table.schema.names:
                try:
                    want = ak.to_list(f[path[1]][name].array(entry_stop=some))
                except Exception as e:  # whatever uproot cannot do
                    result["left_out"].append([*path, name, f"{type(e).__name__}: {e}"[:100]])
                    continue
                got = plain(table[name].slice(0, some).to_pylist())
                want = plain(want)
                if got != want:
                    i = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), -1)
                    sys.exit(f"{path} {name}: {len(got)} values, uproot has {len(want)}; entry {i}: {got[i]}, uproot has {want[i]}")
                result["fields"] += 1
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
