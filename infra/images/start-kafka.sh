#!/bin/sh
# Formats the data directory of Kafka at the first start and starts the broker.
set -eu

kafka=${1:?usage: start-kafka.sh KAFKA_HOME PROPERTIES}
properties=${2:?usage: start-kafka.sh KAFKA_HOME PROPERTIES}

# The same cluster id at every start: Kafka rejects a data directory with another one.
"$kafka/bin/kafka-storage.sh" format --ignore-formatted -t U2x1aWNlQ29tcG9zZUthZg -c "$properties"
exec "$kafka/bin/kafka-server-start.sh" "$properties"
