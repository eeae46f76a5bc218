#!/bin/sh
# Creates once what docker-compose.yml needs: a certificate authority, serving certificates, the console token, the signing
# key of ServiceAccount tokens, a token and kubeconfigs per identity, and the configurations of NATS, Kafka and Redis with a
# user per role. Each container mounts only its own directory below $1; kubeconfigs for the host are in $1/host.
# HOST_PORT...: on the host, the ports of the API servers of cluster-1, cluster-2 and so on.
# Requires openssl, and nats-users.sh and redis-users.sh beside this script.
set -eu
umask 077

usage='usage: make-certificates.sh DIRECTORY HOST_PORT...'
directory=${1:?$usage}
shift
host_ports=${*:?$usage}
scripts=$(cd "$(dirname "$0")" && pwd)
cd "$directory"
if [ -f complete-for-clusters ]; then
  exit 0
fi
mkdir -p admin apiserver console host kafka manager nats reconciler redis sluice watcher worker workload writer

curve='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
# shellcheck disable=SC2086 # word splitting intended
openssl req -x509 $curve -keyout ca.key -out ca.crt -days 365 -subj /CN=sluice-compose-ca

serving() { # directory name [subject alternative names]
  # shellcheck disable=SC2086
  openssl req $curve -keyout "$1/tls.key" -out "$2.csr" -subj "/CN=$2"
  echo "subjectAltName=${3:-DNS:$2},DNS:localhost,IP:127.0.0.1" > "$2.ext"
  openssl x509 -req -in "$2.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile "$2.ext" -out "$1/tls.crt"
  rm "$2.csr" "$2.ext"
}

names=
number=0
for _ in $host_ports; do
  number=$((number + 1))
  names="$names${names:+,}DNS:kube-apiserver-$number"
done
serving apiserver kube-apiserver "$names"
serving console console
serving nats nats
serving redis redis
serving kafka kafka
openssl rand -hex 24 > console/token
openssl ecparam -genkey -name prime256v1 -noout -out apiserver/sa.key

authority=$(base64 < ca.crt | tr -d '\n')
: > apiserver/tokens.csv

identity() { # directory name user groups
  token=$(openssl rand -hex 24)
  echo "$token,$3,$2,\"$4\"" >> apiserver/tokens.csv
  kubeconfig "$2" "$token" containers > "$1/kubeconfig"
  kubeconfig "$2" "$token" host > "host/$2.kubeconfig"
}

kubeconfig() { # name token containers|host: prints a context per cluster
  clusters= contexts=
  number=0
  for port in $host_ports; do
    number=$((number + 1))
    if [ "$3" = host ]; then server=https://127.0.0.1:$port; else server=https://kube-apiserver-$number:6443; fi
    clusters="$clusters
  - { name: cluster-$number, cluster: { server: '$server', certificate-authority-data: $authority } }"
    contexts="$contexts
  - { name: cluster-$number, context: { cluster: cluster-$number, user: $1 } }"
  done
  cat <<EOF
apiVersion: v1
kind: Config
current-context: cluster-1
clusters:$clusters
users:
  - { name: $1, user: { token: $2 } }
contexts:$contexts
EOF
}

account() { # directory name
  identity "$1" "$2" "system:serviceaccount:sluice:$2" system:serviceaccounts,system:serviceaccounts:sluice
}

identity admin admin admin system:masters
# Acts as users, scheduler and kubelets.
identity workload workload workload system:masters
identity manager kube-controller-manager system:kube-controller-manager ''
account sluice sluice
cp sluice/kubeconfig worker/kubeconfig
account watcher sluice-watcher
account writer sluice-writer

for role in worker watcher reconciler writer console; do
  cp ca.crt "$role/ca.crt"
  openssl rand -hex 24 > "$role/bus-password"
  openssl rand -hex 24 > "$role/store-password"
done

passwords() { # file: sets the variables that the scripts for users read
  WATCHER_PASSWORD=$(cat "watcher/$1") RECONCILER_PASSWORD=$(cat "reconciler/$1")
  WRITER_PASSWORD=$(cat "writer/$1") CONSOLE_PASSWORD=$(cat "console/$1")
  WORKER_PASSWORD=$(cat "worker/$1")
  export WATCHER_PASSWORD RECONCILER_PASSWORD WRITER_PASSWORD CONSOLE_PASSWORD WORKER_PASSWORD
}

passwords bus-password
cat > nats/nats.conf <<EOF
listen: "0.0.0.0:4222"
http: "127.0.0.1:8222"
max_payload: 8MB
jetstream { store_dir: "/data", max_file_store: 16GB, sync_interval: 10s }
tls { cert_file: "/certificates/tls.crt", key_file: "/certificates/tls.key" }
$(sh "$scripts/nats-users.sh" sluice 16)
EOF

cat kafka/tls.key kafka/tls.crt > kafka/keystore.pem
cat > kafka/kafka.properties <<EOF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:9093
controller.listener.names=CONTROLLER
listeners=CLIENTS://:9092,CONTROLLER://localhost:9093,INTERNAL://localhost:9094
advertised.listeners=CLIENTS://kafka:9092,INTERNAL://localhost:9094
listener.security.protocol.map=CLIENTS:SASL_SSL,CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT
inter.broker.listener.name=INTERNAL
listener.name.clients.ssl.keystore.type=PEM
listener.name.clients.ssl.keystore.location=/certificates/keystore.pem
sasl.enabled.mechanisms=PLAIN
listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_sluice-watcher="$WATCHER_PASSWORD" user_sluice-reconciler="$RECONCILER_PASSWORD" user_sluice-writer="$WRITER_PASSWORD" user_sluice-console="$CONSOLE_PASSWORD";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
log.dirs=/var/lib/kafka/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
EOF

passwords store-password
cat > redis/redis.conf <<EOF
dir /data
port 0
tls-port 6379
tls-cert-file /certificates/tls.crt
tls-key-file /certificates/tls.key
tls-auth-clients no
appendonly yes
appendfsync everysec
maxmemory-policy noeviction
$(sh "$scripts/redis-users.sh" sluice)
EOF

# This script runs as root, Sluice does not. Each container sees only its own directory.
chmod -R a+rX admin apiserver console kafka manager nats reconciler redis sluice watcher worker workload writer
touch complete-for-clusters
