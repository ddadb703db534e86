#!/usr/bin/env python3
"""Reference numbers of the dimuon example, with uproot and awkward only.

    python testdata/gen/dimuon_reference.py FILE > out.json

FILE holds an RNTuple "Events" with Muon_pt, Muon_eta, Muon_phi, Muon_mass (float) and Muon_charge (std::int32_t).

Selection, as in ROOT's tutorial df102_NanoAODDimuonAnalysis: events with exactly two muons, of opposite charge.
Invariant mass: every float32 is converted to float64 first, then

    px = pt cos(phi); py = pt sin(phi); pz = pt sinh(eta); E = sqrt(px^2 + py^2 + pz^2 + m^2)
    M  = sqrt(max(0, (E1+E2)^2 - (px1+px2)^2 - (py1+py2)^2 - (pz1+pz2)^2))

Histogram: bin i of 300 is [edge(i), edge(i+1)) with edge(i) = 0.25 * (300/0.25)**(i/300) GeV; underflow is
M < 0.25, overflow M >= 300. Windows are half-open, too. The script fails if a selected mass is so close to an edge
(1e-9 relative) that another order of operations could move it.
"""
import json
import os
import sys

import awkward as ak
import numpy as np
import uproot

NBINS, LOW, HIGH = 300, 0.25, 300.0
WINDOWS = {"jpsi": (2.9, 3.3), "upsilon": (9.0, 10.6), "z": (80.0, 100.0)}
TOLERANCE = 1e-9


def main(path):
    with uproot.open(path) as f:
        a = f["Events"].arrays(["Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_charge"])
    n = ak.num(a["Muon_pt"])
    for name in a.fields:
        assert ak.all(ak.num(a[name]) == n), name
    two = a[n == 2]
    q = two["Muon_charge"]
    sel = two[q[:, 0] != q[:, 1]]
    assert set(np.unique(ak.to_numpy(ak.flatten(a["Muon_charge"])))) <= {-1, 1}

    pt, eta, phi, m = (
        ak.to_numpy(sel["Muon_" + v]).astype(np.float64).reshape(-1, 2) for v in ("pt", "eta", "phi", "mass")
    )
    px, py, pz = pt * np.cos(phi), pt * np.sin(phi), pt * np.sinh(eta)
    e = np.sqrt(px * px + py * py + pz * pz + m * m)
    s = [v[:, 0] + v[:, 1] for v in (e, px, py, pz)]
    m2 = s[0] ** 2 - s[1] ** 2 - s[2] ** 2 - s[3] ** 2
    mass = np.sqrt(np.maximum(0, m2))

    # The precision: compare with the mass from a formula without cancellation.
    m1s, m2s = m[:, 0] ** 2, m[:, 1] ** 2
    deta, dphi = eta[:, 0] - eta[:, 1], phi[:, 0] - phi[:, 1]
    mt = np.sqrt(pt**2 + m**2)
    y = np.arcsinh(pz / mt)
    other = m1s + m2s + 2 * (mt[:, 0] * mt[:, 1] * np.cosh(y[:, 0] - y[:, 1]) - pt[:, 0] * pt[:, 1] * np.cos(dphi))
    other = np.sqrt(np.maximum(0, other))
    error = float(np.max(np.abs(mass / other - 1), initial=0))

    edges = np.array([LOW * (HIGH / LOW) ** (i / NBINS) for i in range(NBINS + 1)])
    edges[NBINS] = HIGH
    every = np.sort(np.concatenate([edges, np.array(list(WINDOWS.values())).ravel()]))
    pos = np.clip(np.searchsorted(every, mass), 1, len(every) - 1)
    gap = np.minimum(np.abs(mass / every[pos] - 1), np.abs(mass / every[pos - 1] - 1))
    distance = float(np.min(gap, initial=1))
    assert distance > TOLERANCE, f"a mass is within {distance:g} of an edge"
    assert error < distance / 2, f"masses are exact to {error:g} only, an edge is {distance:g} away"
    print(f"{path}: closest edge {distance:.3g}, rounding {error:.3g} (relative)", file=sys.stderr)

    index = np.searchsorted(edges, mass, side="right") - 1
    inside = index[(index >= 0) & (index < NBINS)]
    counts = np.bincount(inside, minlength=NBINS)
    result = {
        "file": os.path.basename(path),
        "entries": len(a),
        "muons": int(ak.sum(n)),
        "pairs": len(two),
        "opposite_sign": len(sel),
        "windows": {
            k: {"low": lo, "high": hi, "count": int(np.sum((mass >= lo) & (mass < hi)))}
            for k, (lo, hi) in WINDOWS.items()
        },
        "histogram": {
            "bins": NBINS,
            "low": LOW,
            "high": HIGH,
            "underflow": int(np.sum(mass < LOW)),
            "overflow": int(np.sum(mass >= HIGH)),
            "counts": counts.tolist(),
        },
    }
    h = result["histogram"]
    assert h["underflow"] + h["overflow"] + sum(h["counts"]) == len(sel)
    text = json.dumps(result, indent=1)
    # the counts on one line
    head, tail = text.split('"counts": [')
    nums, rest = tail.split("]", 1)
    print(head + '"counts": [' + ", ".join(nums.replace(",", " ").split()) + "]" + rest)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
