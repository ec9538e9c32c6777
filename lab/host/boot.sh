#!/bin/sh
# The supervisor of one lab host, on the machine: it boots the host, and boots it again when the host itself says reboot.
# Its parameters arrive as variables (lab/host/start.ts). It has no mount and no namespace of its own, so when it ends
# nothing of a host is left but files, cgroups and a network interface, each with the lab's name in its own.
set -eu

join() { # CGROUP…: this shell, and all that it starts
  for directory in "$@"; do echo $$ >"$directory/cgroup.procs"; done
}

# What the previous boot left: its processes are gone with their PID namespace, so only empty directories remain.
sweep() {
  attempt=0
  while [ -d "$CGROUP/payload" ] && [ "$attempt" -lt 50 ]; do
    find "$CGROUP/payload" -depth -type d -exec rmdir {} + 2>/dev/null || true
    [ -d "$CGROUP/payload" ] && sleep 0.1
    attempt=$((attempt + 1))
  done
  ip link delete "$VETH" 2>/dev/null || true
}

# shellcheck disable=SC2086 # CAPS is a list of directories whose names hold no blanks
join "$CGROUP/supervisor" $CAPS
exec 9</proc/self/ns/net # the machine's own network, for the host's end of the cable
while :; do
  sweep
  mkdir "$CGROUP/payload"
  status=0
  unshare --mount --propagation private --uts --ipc --net --pid --fork --kill-child \
    sh "$STATE/enter.sh" || status=$?
  # reboot(2) in a PID namespace ends its init with SIGHUP for a restart and SIGINT for a halt (pid_namespaces(7)), and
  # unshare passes the signal on.
  [ "$status" -eq 129 ] || break
done
sweep
exit "$status"
