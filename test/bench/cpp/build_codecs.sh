#!/bin/bash
# build_codecs.sh OUTDIR
# Compiles the C libraries' side of the benchmarks of codecs, OUTDIR/codecs. Needs g++ and the headers of zstd, zlib, lz4,
# liblzma and xxhash; in Debian: libzstd-dev zlib1g-dev liblz4-dev liblzma-dev libxxhash-dev.
set -eu
[ $# -eq 1 ] || { echo "usage: build_codecs.sh OUTDIR" >&2; exit 2; }
cpp=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
g++ -std=c++17 -O2 -o "$1/codecs" "$cpp/codecs.cpp" -lzstd -lz -llz4 -llzma
