"""A histogram with ROOT's distributed RDataFrame, on a local Dask cluster of two workers.

dask_histogram.py NTUPLE EXPR CONDITION BINS LOW HIGH FILE...

Prints the seconds that starting took, those of each of three runs, the first of which compiles,
and the numbers of entries in the bins.
"""
import json
import sys
import time

begin = time.monotonic()


def main():
    name, expression, condition, bins, low, high, *files = sys.argv[1:]
    import ROOT
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
        start = time.monotonic() - begin
        runs = []
        for _ in range(3):
            begun = time.monotonic()
            frame = ROOT.RDataFrame(name, files, executor=client)
            model = ("h", "", int(bins), float(low), float(high))
            histogram = frame.Filter(condition).Define("drawn", expression).Histo1D(model, "drawn")
            counts = [histogram.GetBinContent(i) for i in range(1, int(bins) + 1)]
            runs.append(time.monotonic() - begun)
    print(json.dumps({"start": start, "runs": runs, "counts": counts}))


if __name__ == "__main__":
    main()
