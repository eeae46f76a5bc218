#!/bin/sh
# Formats the data directory of Kafka at the first start, starts the broker and gives each role its permissions
# (docs/guides/kafka.md).
set -eu

kafka=${1:?usage: start-kafka.sh KAFKA_HOME PROPERTIES}
properties=${2:?usage: start-kafka.sh KAFKA_HOME PROPERTIES}

grant() { # role topic operations...
  role=$1 topic=$2
  shift 2
  operations=
  for operation; do operations="$operations --operation $operation"; done
  # shellcheck disable=SC2086 # word splitting intended
  until "$kafka/bin/kafka-acls.sh" --bootstrap-server localhost:9094 --add --allow-principal "User:sluice-$role" \
    --topic "sluice.$topic" $operations >/dev/null 2>&1; do
    sleep 1
  done
}

# Roles that start before their permissions exist are refused and start again.
grant_all() {
  grant reconciler changes Read Describe DescribeConfigs Create
  grant reconciler mutations Write Describe DescribeConfigs Create
  grant reconciler requests Write Describe DescribeConfigs Create
  grant watcher changes Write Describe DescribeConfigs
  grant watcher mutations Describe DescribeConfigs
  grant watcher requests Read Describe DescribeConfigs
  grant writer changes Write Describe DescribeConfigs
  grant writer mutations Read Describe DescribeConfigs
  grant writer requests Describe DescribeConfigs
  for topic in changes mutations requests; do grant console "$topic" Read Describe DescribeConfigs; done
}

# The same cluster id at every start: Kafka rejects a data directory with another one.
"$kafka/bin/kafka-storage.sh" format --ignore-formatted -t U2x1aWNlQ29tcG9zZUthZg -c "$properties"
grant_all &
exec "$kafka/bin/kafka-server-start.sh" "$properties"
