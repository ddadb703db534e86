#!/bin/bash
# build.sh FILE [ARGUMENT-OF-GO-BUILD...]
# Builds librntuple.so (.dylib, .dll) as FILE, with the header rntuple.h beside it. CC, GOOS and GOARCH choose another system.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) file=$(realpath -m "$1")
flags="-s -w"
mkdir -p "$(dirname "$file")"
[ "$(go env GOOS)" != linux ] || flags+=" '-extldflags=\"-Wl,-s,--version-script=$here/exports.map\"'"
CGO_ENABLED=1 go build -C "$here" -buildmode=c-shared -tags=grpcnotrace,arrow_json_stdlib -ldflags "$flags" -o "$file" "${@:2}" .
rm -f "${file%.*}.h" # cgo's, which has what is no part of the interface
cp "$here/rntuple.h" "$(dirname "$file")"
