#!/usr/bin/env python3
"""Writes streams.bin in this directory with Python's module lzma, of liblzma
5.4.1: for each stream the length of its content, the CRC-32 of that, and the
length of the stream, 4 bytes each in little-endian order, then the stream."""

import lzma
import pathlib
import random
import struct
import zlib

r = random.Random(1)
streams = []


def raw(data, **options):
    return lzma.compress(data, lzma.FORMAT_RAW, filters=[dict(id=lzma.FILTER_LZMA2, **options)])


def add(data, stream):
    assert lzma.decompress(stream, lzma.FORMAT_RAW, filters=[dict(id=lzma.FILTER_LZMA2, preset=6)]) == data
    streams.append(struct.pack("<3I", len(data), zlib.crc32(data), len(stream)) + stream)


def text(n):
    b = b""
    while len(b) < n:
        b += r.choice([b"muon", b"jet", b"_pt", b"_eta", b"HLT_", b"IsoMu24", b" ", b", ", b"%d" % r.randrange(10**6)])
    return b[:n]


def planes(n, value):
    b = b"".join(struct.pack("<d", value()) for _ in range(n))
    return b"".join(b[k::8] for k in range(8))


pages = [
    text(8000),
    planes(700, lambda: struct.unpack("<f", struct.pack("<f", r.expovariate(0.05)))[0]),
    planes(1000, lambda: r.randrange(20)),
    bytes(7 if r.random() < 0.99 else r.randrange(4) for _ in range(20_000)),
    text(2000) + bytes(100_000) + text(2000),
]

# All properties; a content in which they matter.
data = planes(40, lambda: r.expovariate(0.05)) + text(200)
for lc in range(5):
    for lp in range(5 - lc):
        for pb in range(5):
            add(data, raw(data, preset=6, lc=lc, lp=lp, pb=pb))

# All levels, and what ROOT uses with an .xz stream around it.
for i, preset in enumerate([*range(10), 9 | lzma.PRESET_EXTREME]):
    page = pages[i % len(pages)]
    add(page, raw(page, preset=preset))
for page in pages:
    add(page, raw(page, preset=7))
for finder in lzma.MF_HC3, lzma.MF_BT2:
    add(pages[0], raw(pages[0], preset=6, mf=finder, nice_len=16))

# All kinds of chunks. What does not depend on the position nor on the previous
# byte, and has no matches across chunks, may stand without a reset of them.
noise = r.randbytes(200)
page = pages[0][:3000]
plain, symbols = raw(noise, preset=6)[:-1], raw(page, preset=6, lc=0, lp=0, pb=0)[:-1]
other = raw(page, preset=6, lc=3, lp=1, pb=2)[:-1]
assert plain[0] == 1 and symbols[0] == 0xE0
again = b"\x02" + plain[1:]
properties = b"\xC0" + symbols[1:]
state = b"\xA0" + symbols[1:5] + symbols[6:]
add(noise * 2 + page * 2 + noise, plain + again + properties + state + again + b"\0")
add(page * 4 + noise, symbols + state + properties + symbols + plain + b"\0")
add(page * 3 + noise + page, symbols + other + symbols + again + state + b"\0")
add(page + noise + page * 2, other + plain + properties + other + b"\0")
zeros = bytes(5 << 20)
long = raw(zeros, preset=6)
assert long[5 + 1 + struct.unpack(">H", long[3:5])[0] + 1] & 0xE0 == 0x80
add(zeros, long)
add(b"", b"\0")

(pathlib.Path(__file__).parent / "streams.bin").write_bytes(b"".join(streams))
