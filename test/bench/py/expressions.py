"""The expressions of ../go/expressions.go with NumPy and Awkward Array, on arrays that uproot reads each time, or that are in memory.

expressions.py expression-NAME J FILE, expression-memory-NAME J FILE
"""
import json
import sys
import time

import awkward as ak
import numpy as np
import uproot


def flat(a):
    return (a["MET_pt"] > 60) & (a["PV_npvs"] > 20)


def arithmetic(a):
    return np.sqrt((a["MET_pt"] * np.cos(a["MET_phi"])) ** 2 + a["MET_sumEt"] ** 2) > 500


def count(a):
    return ak.sum(a["Jet_pt"] > 30, axis=1) >= 2


def masked_sum(a):
    chosen = (a["Muon_pt"] > 20) & (abs(a["Muon_eta"]) < 2.4)
    return ak.sum(a["Muon_pt"][chosen], axis=1) > 50


def greatest(a):
    return ak.fill_none(ak.max(a["Jet_pt"], axis=1), 0) > 100


def argmax(a):
    best = ak.argmax(a["Jet_pt"], axis=1, keepdims=True)
    return ak.fill_none(ak.firsts(a["Jet_eta"][best]), 0) > 1


def second(a):
    ordered = ak.sort(a["Jet_pt"], axis=1, ascending=False)
    return ak.fill_none(ak.firsts(ordered[:, 1:2]), 0) > 40


def pair_mass(a):
    pairs = ak.num(a["Muon_pt"]) >= 2
    (pt1, pt2), (eta1, eta2), (phi1, phi2) = (
        (two[:, 0], two[:, 1]) for two in (ak.values_astype(a[name][pairs], np.float64) for name in ("Muon_pt", "Muon_eta", "Muon_phi"))
    )
    mass = np.sqrt(2 * pt1 * pt2 * (np.cosh(eta1 - eta2) - np.cos(phi1 - phi2)))
    return mass > 60


def turn(phi):
    """Turns differences of angles into [-pi, pi]."""
    return (phi + np.pi) % (2 * np.pi) - np.pi


def combinations(a):
    eta1, eta2 = ak.unzip(ak.combinations(ak.values_astype(a["Jet_eta"], np.float64), 2))
    phi1, phi2 = ak.unzip(ak.combinations(ak.values_astype(a["Jet_phi"], np.float64), 2))
    distance = np.sqrt((eta1 - eta2) ** 2 + turn(phi1 - phi2) ** 2)
    return ak.any(distance < 0.8, axis=1)


def broadcast(a):
    phi, of = ak.values_astype(a["Jet_phi"], np.float64), ak.values_astype(a["MET_phi"], np.float64)
    return ak.any(abs(turn(of - phi)) > 3, axis=1)


WORKS = {
    "flat": (flat, ["MET_pt", "PV_npvs"]),
    "arithmetic": (arithmetic, ["MET_pt", "MET_phi", "MET_sumEt"]),
    "count": (count, ["Jet_pt"]),
    "masked-sum": (masked_sum, ["Muon_pt", "Muon_eta"]),
    "max": (greatest, ["Jet_pt"]),
    "argmax": (argmax, ["Jet_pt", "Jet_eta"]),
    "sort": (second, ["Jet_pt"]),
    "pair-mass": (pair_mass, ["Muon_pt", "Muon_eta", "Muon_phi"]),
    "combinations": (combinations, ["Jet_eta", "Jet_phi"]),
    "broadcast": (broadcast, ["Jet_phi", "MET_phi"]),
}


def main():
    name = sys.argv[1].removeprefix("expression-")
    work, names = WORKS[name.removeprefix("memory-")]

    def read():
        with uproot.open(sys.argv[3]) as file:
            return file["Events"].arrays(filter_name=names)

    kept = read() if name.startswith("memory-") else None
    for _ in sys.stdin:
        start = time.perf_counter()
        arrays = read() if kept is None else kept
        sums = [int(ak.sum(work(arrays)))]
        print(json.dumps({"seconds": time.perf_counter() - start, "sums": sums}), flush=True)


main()
