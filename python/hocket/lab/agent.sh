#!/bin/sh
# Runs "HOST command..." inside a host of the lab, as ssh would: MPI launchers call this
# in place of ssh. HOCKET_LAB names the lab's directory. Options that launchers give to
# ssh (-x, -T, ...) are skipped.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
if [ ! -e "$HOCKET_LAB/$host.uts" ]; then
    echo "hocket lab: no host '$host' in the lab $HOCKET_LAB" >&2
    exit 255
fi
TMPDIR=$(cat "$HOCKET_LAB/tmp")/$host
export TMPDIR
# A mount namespace of its own, which ends with the command: /sys shows this host's network devices
# (UCX looks there), host names have addresses (a look-up would wait for an unreachable name server),
# and shared memory is the host's own and goes with it.
setup='mount -t sysfs hocket /sys && mount --bind "$HOCKET_LAB/hosts" /etc/hosts || exit 255
[ ! -d /dev/shm ] || mount -t tmpfs hocket /dev/shm || exit 255
exec /bin/sh -c "$1"'
exec nsenter --net="/run/netns/hkt-${HOCKET_LAB##*/}-$host" --uts="$HOCKET_LAB/$host.uts" \
    unshare --mount /bin/sh -c "$setup" sh "$*"
