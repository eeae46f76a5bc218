#!/bin/sh
# Prints the `user` lines of redis.conf for a fleet: one user per role, with the permissions of docs/guides/redis.md. Each
# role can write its own state and leases and what all roles share: known clusters, pins, dead letters, settled values, the
# claim of the bus.
#
#   redis-users.sh FLEET     e.g. redis-users.sh sluice >> redis.conf
#
# The passwords come from WATCHER_PASSWORD, RECONCILER_PASSWORD, WRITER_PASSWORD and CONSOLE_PASSWORD. The users are
# FLEET-watcher, FLEET-reconciler, FLEET-writer and FLEET-console. With WORKER_PASSWORD there is FLEET-worker too.
set -eu

fleet=${1:?usage: redis-users.sh FLEET}
reads='+subscribe +info +ping +multi +exec +time +get +hget +hmget +hgetall +hscan +lrange +cluster|slots +cluster|info'
commands="$reads +publish +eval +evalsha +set +hset +hlen +hsetnx +hdel +rpush +lpop +llen +lrem"
shared="~{$fleet:settled/* ~{$fleet:clusters} ~{$fleet:cluster-pins} ~{$fleet:dead-letters}* ~{$fleet:leases/bus*"

user() { # role password keys...
  role=$1 password=$2
  shift 2
  echo "user $fleet-$role on >$password resetchannels &{$fleet:* $shared $* -@all $commands"
}

# Redis 7.0 replays its append-only file as this user.
echo 'user default off ~* &* +@all'
every=
for role in watcher reconciler writer; do
  case $role in
    watcher) password=${WATCHER_PASSWORD:?} ;;
    reconciler) password=${RECONCILER_PASSWORD:?} ;;
    writer) password=${WRITER_PASSWORD:?} ;;
  esac
  keys="~{$fleet:$role/* ~{$fleet:leases/$role}* ~{$fleet:leases/$role/*"
  user "$role" "$password" "$keys"
  every="$every $keys"
done
if [ -n "${WORKER_PASSWORD:-}" ]; then user worker "$WORKER_PASSWORD" "$every"; fi
# Reads everything, and runs no script: Redis does not stop one that never ends.
echo "user $fleet-console on >${CONSOLE_PASSWORD:?} resetchannels &{$fleet:* %R~{$fleet:* -@all $reads"
