#!/bin/sh
# Prints the `authorization` block of nats-server for a fleet: one user per role, with the permissions of
# docs/guides/nats.md. NATS matches no prefixes, so the block names each partition's streams.
#
#   nats-users.sh FLEET PARTITIONS     e.g. nats-users.sh sluice 64 > users.conf
#
# The passwords come from WATCHER_PASSWORD, RECONCILER_PASSWORD, WRITER_PASSWORD and CONSOLE_PASSWORD, in plain text or as
# bcrypt hashes. The users are FLEET-watcher, FLEET-reconciler, FLEET-writer and FLEET-console. With WORKER_PASSWORD there is
# FLEET-worker too.
set -eu

fleet=${1:?usage: nats-users.sh FLEET PARTITIONS}
partitions=${2:?usage: nats-users.sh FLEET PARTITIONS}

reads() { # topic count: prints the permissions for reading a topic
  partition=0
  while [ "$partition" -lt "$2" ]; do
    stream=$fleet-$1-$partition
    echo "      \"\$JS.API.STREAM.MSG.GET.$stream\", \"\$JS.API.CONSUMER.CREATE.$stream.*\","
    echo "      \"\$JS.API.CONSUMER.MSG.NEXT.$stream.*\", \"\$JS.API.CONSUMER.DELETE.$stream.*\","
    partition=$((partition + 1))
  done
}

user() { # role password publish-permissions...
  role=$1 password=$2
  shift 2
  echo "    { user: \"$fleet-$role\", password: \"$password\", permissions: {"
  echo '      publish: ['
  for subject; do echo "      \"$subject\","; done
  case $role in
    watcher) reads requests 1 ;;
    reconciler) reads changes "$partitions"; reads requests 1 ;;
    writer) reads mutations "$partitions"; reads requests 1 ;;
    console | worker) reads changes "$partitions"; reads mutations "$partitions"; reads requests 1 ;;
  esac
  # shellcheck disable=SC2016 # $JS is part of the subjects
  echo '      "$JS.API.STREAM.LIST", "$JS.API.STREAM.INFO.*" ]'
  echo "      subscribe: [\"_INBOX_$fleet-$role.>\"]"
  echo '    } }'
}

echo 'authorization {'
echo '  users: ['
user watcher "${WATCHER_PASSWORD:?}" "$fleet.changes.*"
# shellcheck disable=SC2016
user reconciler "${RECONCILER_PASSWORD:?}" "$fleet.mutations.*" "$fleet.requests.0" '$JS.API.STREAM.CREATE.*' '$JS.API.STREAM.NAMES'
user writer "${WRITER_PASSWORD:?}" "$fleet.changes.*"
user console "${CONSOLE_PASSWORD:?}"
if [ -n "${WORKER_PASSWORD:-}" ]; then
  # shellcheck disable=SC2016
  user worker "$WORKER_PASSWORD" "$fleet.changes.*" "$fleet.mutations.*" "$fleet.requests.0" '$JS.API.STREAM.CREATE.*' '$JS.API.STREAM.NAMES'
fi
echo '  ]'
echo '}'
