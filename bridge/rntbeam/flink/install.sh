#!/bin/bash
# install.sh FOLDER
# Fetches Flink and Beam's job server for it, from Maven Central and PyPI, into jobserver and cluster of a folder, unless they are there. Needs
# Java 17, mvn, python3 and 600 MB.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
mkdir -p "$1"
cd "$1"

if [ ! -d jobserver ]; then
   rm -rf jobserver.new
   mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$PWD/jobserver.new"
   mv jobserver.new jobserver
fi

# Maven Central does not have flink-dist, but the source of a Python package does.
if [ ! -d cluster ]; then
   rm -rf fetched && mkdir fetched
   python3 -m venv fetched/venv
   fetched/venv/bin/pip install -q wheel 'setuptools<81'
   fetched/venv/bin/pip download -q --no-deps --no-binary :all: --no-build-isolation -d fetched apache-flink-libraries==1.19.0
   tar xzf fetched/apache-flink-libraries-1.19.0.tar.gz -C fetched --strip-components=3 apache-flink-libraries-1.19.0/deps/lib
   mkdir fetched/cluster
   mv fetched/flink-dist-1.19.0.jar fetched/log4j-*.jar fetched/cluster
   mv fetched/cluster cluster
   rm -rf fetched
fi
