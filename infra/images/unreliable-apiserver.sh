#!/bin/sh
# Runs kube-apiserver and freezes it for a while, again and again: a cluster that stops answering and returns.
#
#   unreliable-apiserver.sh ANSWERING_SECONDS FROZEN_SECONDS KUBE_APISERVER_FLAGS...
set -eu

usage='usage: unreliable-apiserver.sh ANSWERING_SECONDS FROZEN_SECONDS KUBE_APISERVER_FLAGS...'
answering=${1:?$usage}
frozen=${2:?$usage}
shift 2

freeze_again_and_again() {
  while sleep "$answering"; do
    echo "kube-apiserver frozen for ${frozen}s"
    kill -STOP "$server"
    sleep "$frozen"
    kill -CONT "$server"
    echo 'kube-apiserver resumed'
  done
}

stop() {
  kill "$freezing" || true
  kill -CONT "$server"
  kill "$server"
}

kube-apiserver "$@" &
server=$!
freeze_again_and_again &
freezing=$!
trap stop TERM INT
# A signal ends the first wait.
wait "$server" || wait "$server" || true
kill "$freezing" 2>/dev/null || true
