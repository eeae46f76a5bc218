#!/bin/sh
# Creates a certificate authority and serving certificates of bus and store, for clusters without cert-manager
# (docs/guides/tls.md). Keeps the authority of an earlier run in the directory, and makes new certificates.
#
#   make-certificates.sh DIRECTORY NAME=HOST[,HOST...]...
#   e.g. make-certificates.sh certificates nats=nats.nats.svc redis=redis.redis.svc
#
# Writes ca.crt and ca.key, and NAME.crt and NAME.key of each server. Keep ca.key away from the cluster. Requires openssl.
set -eu
umask 077

directory=${1:?usage: make-certificates.sh DIRECTORY NAME=HOST[,HOST...]...}
shift
mkdir -p "$directory"
cd "$directory"

curve='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
if [ ! -f ca.key ]; then
  # shellcheck disable=SC2086 # word splitting intended
  openssl req -x509 $curve -keyout ca.key -out ca.crt -days 3650 -subj /CN=sluice-ca
fi

alternative_names() { # hosts
  echo "$1" | tr , '\n' | while read -r host; do
    case $host in
      *[!0-9.]*) echo "DNS:$host" ;;
      *) echo "IP:$host" ;;
    esac
  done | paste -sd, -
}

for server; do
  name=${server%%=*} hosts=${server#*=}
  # shellcheck disable=SC2086
  openssl req $curve -keyout "$name.key" -out "$name.csr" -subj "/CN=$name"
  {
    echo "subjectAltName=$(alternative_names "$hosts")"
    echo 'keyUsage=digitalSignature'
    echo 'extendedKeyUsage=serverAuth'
  } > "$name.ext"
  openssl x509 -req -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile "$name.ext" -out "$name.crt"
  rm "$name.csr" "$name.ext"
done
