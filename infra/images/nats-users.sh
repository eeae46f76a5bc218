#!/bin/sh
# Prints the `authorization` block of nats-server for a fleet: one user per role, with the permissions of
# docs/guides/nats.md. NATS matches no prefixes, so the block names each partition's streams.
#
#   nats-users.sh FLEET PARTITIONS     e.g. nats-users.sh sluice 16 > users.conf
#
# For a fleet whose number of partitions changes, PARTITIONS has that of each generation, oldest first: 16,64
# (docs/guides/repartition.md).
#
# The passwords come from WATCHER_PASSWORD, RECONCILER_PASSWORD, WRITER_PASSWORD and CONSOLE_PASSWORD, in plain text or as
# bcrypt hashes. The users are FLEET-watcher, FLEET-reconciler, FLEET-writer and FLEET-console. With WORKER_PASSWORD there is
# FLEET-worker too.
set -euf

fleet=${1:?usage: nats-users.sh FLEET PARTITIONS}
generations=$(echo "${2:?usage: nats-users.sh FLEET PARTITIONS}" | tr , ' ')

logs() { # generation: prints the prefix of its streams and subjects
  if [ "$1" -eq 0 ]; then echo "$fleet"; else echo "$fleet-g$1"; fi
}

reads() { # logs topic count: prints the permissions for reading a topic
  partition=0
  while [ "$partition" -lt "$3" ]; do
    stream=$1-$2-$partition
    echo "      \"\$JS.API.STREAM.MSG.GET.$stream\", \"\$JS.API.CONSUMER.CREATE.$stream.*\","
    echo "      \"\$JS.API.CONSUMER.MSG.NEXT.$stream.*\", \"\$JS.API.CONSUMER.DELETE.$stream.*\","
    partition=$((partition + 1))
  done
}

user() { # role password topics-to-publish-to other-permissions...
  role=$1 password=$2 topics=$3
  shift 3
  echo "    { user: \"$fleet-$role\", password: \"$password\", permissions: {"
  echo '      publish: ['
  for subject; do echo "      \"$subject\","; done
  generation=0
  for partitions in $generations; do
    logs=$(logs "$generation")
    for topic in $topics; do echo "      \"$logs.$topic\","; done
    case $role in reconciler | console | worker) reads "$logs" changes "$partitions" ;; esac
    case $role in writer | console | worker) reads "$logs" mutations "$partitions" ;; esac
    reads "$logs" requests 1
    generation=$((generation + 1))
  done
  # shellcheck disable=SC2016 # $JS is part of the subjects
  echo '      "$JS.API.STREAM.LIST", "$JS.API.STREAM.INFO.*" ]'
  echo "      subscribe: [\"_INBOX_$fleet-$role.>\"]"
  echo '    } }'
}

echo 'authorization {'
echo '  users: ['
user watcher "${WATCHER_PASSWORD:?}" 'changes.*'
# shellcheck disable=SC2016
user reconciler "${RECONCILER_PASSWORD:?}" 'mutations.* requests.0' '$JS.API.STREAM.CREATE.*' '$JS.API.STREAM.NAMES'
user writer "${WRITER_PASSWORD:?}" 'changes.*'
user console "${CONSOLE_PASSWORD:?}" ''
if [ -n "${WORKER_PASSWORD:-}" ]; then
  # shellcheck disable=SC2016
  user worker "$WORKER_PASSWORD" 'changes.* mutations.* requests.0' '$JS.API.STREAM.CREATE.*' '$JS.API.STREAM.NAMES'
fi
echo '  ]'
echo '}'
