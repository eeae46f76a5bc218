#!/bin/sh
# Formats the data directory of Kafka at the first start and starts the broker.
set -eu

kafka=${1:?usage: start-kafka.sh KAFKA_HOME PROPERTIES}
properties=${2:?usage: start-kafka.sh KAFKA_HOME PROPERTIES}

# A new cluster id at every start: an existing data directory keeps its own.
"$kafka/bin/kafka-storage.sh" format --ignore-formatted -t "$("$kafka/bin/kafka-storage.sh" random-uuid)" -c "$properties"
exec "$kafka/bin/kafka-server-start.sh" "$properties"
