#!/usr/bin/env python3
"""Writes the frames in this directory with libzstd 1.5.7, by the module
zstandard 0.25.0: contents like those of pages, parameters of many kinds."""

import pathlib
import random
import struct

import zstandard as z

here = pathlib.Path(__file__).parent
r = random.Random(1)


def split(words):
    data = struct.pack("<%dQ" % len(words), *words)
    return b"".join(data[k::8] for k in range(8))


def double(v):
    return struct.unpack("<Q", struct.pack("<d", v))[0]


text = b""
while len(text) < 150_000:
    text += r.choice([b"muon", b"jet", b"_pt", b"_eta", b"HLT_", b"IsoMu24", b" ", b", ", b"%d" % r.randrange(10**6)])

# Several blocks of a kind, so that tables are used again.
pages = {
    "doubles": split([double(struct.unpack("<f", struct.pack("<f", r.expovariate(0.05)))[0]) for _ in range(2000)]),
    "offsets": split([int(r.expovariate(0.4)) for _ in range(24_000)]),
    "booleans": bytes(sum((r.random() < 0.05) << k for k in range(8)) for _ in range(20_000)),
    "constant": bytes(7 if r.random() < 0.999 else r.randrange(4) for _ in range(300_000)),
    "zeros": bytes(300_000),
    "text": text[:20_000],
    "far": text[:12_000] + bytes(140_000) + text[:12_000],
    "short": b"abcabcabcd" * 9,
}

parameters = {
    "fast": dict(level=-5),
    "1": dict(level=1, write_content_size=False),
    "5": dict(level=5),
    "10": dict(level=10, write_content_size=False),
    "19": dict(level=19),
    "3long": dict(level=3, enable_ldm=True, window_log=27),
}

for page, data in pages.items():
    for name, p in parameters.items():
        p = dict(p)
        level = p.pop("level")
        c = z.ZstdCompressor(compression_params=z.ZstdCompressionParameters.from_level(level, write_checksum=True, **p))
        (here / f"{page}_{name}.zst").write_bytes(c.compress(data))
