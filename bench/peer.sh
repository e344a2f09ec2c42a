#!/usr/bin/env bash
# Apache Kafka 4.4.0 from Maven's jars, without its distribution: the peer of every measurement.
#
#   peer.sh fetch                 fill the cache (needs Java 17 and Maven)
#   peer.sh serve DIR PORT [KEY=VALUE]...
#                                 run one node with data in DIR on PORT (controller on PORT+1);
#                                 replaces this process, so its pid is the broker's
#   peer.sh node DIR ID HOST VOTERS [KEY=VALUE]...
#                                 run one node of a cluster, which listens at HOST:9092; VOTERS is a
#                                 list of ID@HOST:PORT with commas, and says where its controller is
#   peer.sh tool CLASS [ARG]...   run a tool, for example TopicCommand or DumpLogSegments
#
# PEER_CACHE (default ~/.cache/stet-peer) holds the jars; PEER_HEAP (default 1G) sizes the heap.
set -euo pipefail

cache=${PEER_CACHE:-$HOME/.cache/stet-peer}
heap=${PEER_HEAP:-1G}

fetch() {
  [ -d "$cache/libs" ] && return
  mkdir -p "$cache"
  cat >"$cache/pom.xml" <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>stet</groupId><artifactId>peer</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>4.4.0</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.25.1</version></dependency>
  </dependencies>
</project>
XML
  (cd "$cache" && mvn -q -B dependency:copy-dependencies -DoutputDirectory=libs.part >&2 && mv libs.part libs)
}

quiet() {
  [ -f "$cache/log4j2.properties" ] || cat >"$cache/log4j2.properties" <<'P'
rootLogger.level=ERROR
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.target=SYSTEM_ERR
appender.console.layout.type=PatternLayout
P
}

serve() {
  local dir=$1 port=$2
  shift 2
  mkdir -p "$dir"
  cat >"$dir.properties" <<P
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
log.dirs=$dir
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
P
  printf '%s\n' "$@" >>"$dir.properties"
  [ -f "$dir/meta.properties" ] || java -cp "$cache/libs/*:$cache" kafka.tools.StorageTool format \
    -t 4L6g3nShT-eMCtK--X86sw -c "$dir.properties" >/dev/null
  exec java "-Xmx$heap" "-Xms$heap" -XX:+UseG1GC -XX:MaxGCPauseMillis=20 \
    -cp "$cache/libs/*:$cache" kafka.Kafka "$dir.properties"
}

node() {
  local dir=$1 id=$2 host=$3 voters=$4
  shift 4
  mkdir -p "$dir"
  cat >"$dir.properties" <<P
process.roles=broker,controller
node.id=$id
controller.quorum.voters=$voters
listeners=PLAINTEXT://$host:9092,CONTROLLER://$host:9093
controller.listener.names=CONTROLLER
log.dirs=$dir
P
  printf '%s\n' "$@" >>"$dir.properties"
  [ -f "$dir/meta.properties" ] || java -cp "$cache/libs/*:$cache" kafka.tools.StorageTool format \
    -t 4L6g3nShT-eMCtK--X86sw -c "$dir.properties" >/dev/null
  exec java "-Xmx$heap" "-Xms$heap" -XX:+UseG1GC -XX:MaxGCPauseMillis=20 \
    -cp "$cache/libs/*:$cache" kafka.Kafka "$dir.properties"
}

tool() {
  local class=$1
  shift
  exec java -cp "$cache/libs/*:$cache" "org.apache.kafka.tools.$class" "$@"
}

command=${1:-}
case $command in
  fetch | serve | node | tool)
    shift
    fetch
    quiet
    [ "$command" = fetch ] || "$command" "$@"
    ;;
  *)
    sed -n '2,/^set -/{/^#/p}' "$0" >&2
    exit 1
    ;;
esac
