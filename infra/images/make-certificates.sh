#!/bin/sh
# Creates once what docker-compose.yml needs: a certificate authority, serving certificates, the console token, the signing
# key of ServiceAccount tokens, a token and kubeconfigs per identity (for containers in $1/internal, for the host in
# $1/host), and the configurations of NATS, Kafka and Redis with their passwords. Requires openssl.
set -eu
umask 077

directory=${1:?usage: make-certificates.sh DIRECTORY HOST_PORT}
host_port=${2:?usage: make-certificates.sh DIRECTORY HOST_PORT}
cd "$directory"
if [ -f complete ]; then
  exit 0
fi

curve='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
# shellcheck disable=SC2086 # word splitting intended
openssl req -x509 $curve -keyout ca.key -out ca.crt -days 365 -subj /CN=sluice-compose-ca

serving() { # file name
  # shellcheck disable=SC2086
  openssl req $curve -keyout "$1.key" -out "$1.csr" -subj "/CN=$2"
  echo "subjectAltName=DNS:$2,DNS:localhost,IP:127.0.0.1" > "$1.ext"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile "$1.ext" -out "$1.crt"
}

serving apiserver kube-apiserver
serving console console
openssl rand -hex 24 > console-token
openssl ecparam -genkey -name prime256v1 -noout -out sa.key

authority=$(base64 < ca.crt | tr -d '\n')
mkdir -p internal host
: > tokens.csv

identity() { # name user groups
  token=$(openssl rand -hex 24)
  echo "$token,$2,$1,\"$3\"" >> tokens.csv
  kubeconfig "$1" "$token" https://kube-apiserver:6443 > "internal/$1.kubeconfig"
  kubeconfig "$1" "$token" "https://127.0.0.1:$host_port" > "host/$1.kubeconfig"
}

kubeconfig() { # name token server
  cat <<EOF
apiVersion: v1
kind: Config
current-context: $1@compose
clusters:
  - { name: compose, cluster: { server: '$3', certificate-authority-data: $authority } }
users:
  - { name: $1@compose, user: { token: $2 } }
contexts:
  - { name: $1@compose, context: { cluster: compose, user: $1@compose } }
EOF
}

identity admin admin system:masters
identity kube-controller-manager system:kube-controller-manager ''
for account in sluice sluice-watcher sluice-writer; do
  identity "$account" "system:serviceaccount:sluice:$account" system:serviceaccounts,system:serviceaccounts:sluice
done

openssl rand -hex 24 > bus-token
cat > nats.conf <<EOF
listen: "0.0.0.0:4222"
max_payload: 8MB
jetstream { store_dir: "/data", max_file_store: 16GB, sync_interval: 1s }
authorization { token: "$(cat bus-token)" }
EOF

openssl rand -hex 24 > bus-password
cat > kafka.properties <<EOF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:9093
controller.listener.names=CONTROLLER
listeners=CLIENTS://:9092,CONTROLLER://localhost:9093,INTERNAL://localhost:9094
advertised.listeners=CLIENTS://kafka:9092,INTERNAL://localhost:9094
listener.security.protocol.map=CLIENTS:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT
inter.broker.listener.name=INTERNAL
sasl.enabled.mechanisms=PLAIN
listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_sluice="$(cat bus-password)";
log.dirs=/var/lib/kafka/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
EOF

openssl rand -hex 24 > store-password
cat > redis.conf <<EOF
dir /data
appendonly yes
appendfsync everysec
maxmemory-policy noeviction
requirepass $(cat store-password)
EOF

# This script runs as root, Sluice does not. The secrets are valid only in this deployment.
chmod -R a+rX .
touch complete
