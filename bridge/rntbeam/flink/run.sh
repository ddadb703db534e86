#!/bin/bash
# run.sh FOLDER COMMAND...
# Starts a cluster of Flink, its job manager, a task manager with two slots and Beam's job server, each a process, from what
# install.sh has put into a folder; runs a command with the job server's address in RNTBEAM_FLINK; and stops the cluster. If the
# command fails, the ends of the logs are shown.
set -euo pipefail
jars=$(cd "$1" && pwd -P)
shift
work=$(mktemp -d)
processes=()

finish() {
   status=$?
   if [ $status != 0 ]; then
      for log in "$work"/*.log; do printf '\n== %s\n' "$(basename "$log")"; tail -n 40 "$log"; done
   fi
   [ ${#processes[@]} = 0 ] || kill "${processes[@]}" 2>/dev/null || true
   wait
   rm -rf "$work"
   exit $status
}
trap finish EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("localhost", 0)); print(s.getsockname()[1])'; }

# await SECONDS COMMAND... waits for a command to succeed.
await() {
   local end=$((SECONDS + $1))
   until "${@:2}"; do
      for process in "${processes[@]}"; do kill -0 "$process" || { echo "a process of Flink has ended"; return 1; }; done
      [ $SECONDS -lt $end ] || { echo "waited in vain: ${*:2}"; return 1; }
      sleep 0.5
   done
}

rest=$(free_port) rpc=$(free_port)
mkdir "$work/conf" "$work/tmp"
cat >"$work/conf/log4j.properties" <<END
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = Console
appender.console.name = Console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %-5p %c{1} %m%n
END
# Without Flink's scripts, the task manager wants every size given.
cat >"$work/conf/config.yaml" <<END
jobmanager.rpc.address: localhost
jobmanager.rpc.port: $rpc
jobmanager.bind-host: localhost
jobmanager.memory.process.size: 700m
rest.address: localhost
rest.bind-address: localhost
rest.port: $rest
taskmanager.bind-host: localhost
taskmanager.host: localhost
taskmanager.numberOfTaskSlots: 2
taskmanager.cpu.cores: 1.0
taskmanager.memory.task.heap.size: 256m
taskmanager.memory.task.off-heap.size: 64m
taskmanager.memory.managed.size: 64m
taskmanager.memory.network.min: 256m
taskmanager.memory.network.max: 256m
taskmanager.memory.framework.heap.size: 128m
taskmanager.memory.framework.off-heap.size: 64m
taskmanager.memory.jvm-metaspace.size: 192m
taskmanager.memory.jvm-overhead.min: 64m
taskmanager.memory.jvm-overhead.max: 64m
parallelism.default: 2
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: ${RNTBEAM_FLINK_RESTARTS:-4}
restart-strategy.fixed-delay.delay: 1 s
io.tmp.dirs: $work/tmp
END

opens=()
for package in java.base/java.util java.base/java.lang java.base/java.nio java.base/sun.nio.ch java.base/java.util.concurrent; do
   opens+=("--add-opens=$package=ALL-UNNAMED")
done
flink=(java -Xmx400m "${opens[@]}" -Dlog4j.configurationFile="$work/conf/log4j.properties" -cp "$jars/cluster/*")
"${flink[@]}" org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --configDir "$work/conf" >"$work/jobmanager.log" 2>&1 &
processes+=($!)
"${flink[@]}" -XX:MaxDirectMemorySize=512m org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$work/conf" >"$work/taskmanager.log" 2>&1 &
processes+=($!)

slots() { python3 -c '
import json, sys, urllib.request
sys.exit(json.load(urllib.request.urlopen(sys.argv[1]))["slots-available"] != 2)' "http://localhost:$rest/overview" 2>/dev/null; }
await 180 slots

java -Xmx512m -Djava.io.tmpdir="$work/tmp" -cp "$jars/jobserver/*" org.apache.beam.runners.flink.FlinkJobServerDriver \
   --flink-master="localhost:$rest" --job-port=0 --artifact-port=0 --expansion-port=-1 --artifacts-dir="$work/staging" >"$work/jobserver.log" 2>&1 &
processes+=($!)
started() { grep -q 'JobService started on' "$work/jobserver.log"; }
await 120 started

RNTBEAM_FLINK=$(sed -n 's/.*JobService started on \([^ ]*\).*/\1/p' "$work/jobserver.log" | head -1)
export RNTBEAM_FLINK
echo "Flink is ready at $RNTBEAM_FLINK after $SECONDS s"
"$@"
