#!/bin/sh
# PID 1 of a lab host until systemd takes over. The namespaces are new, all but the cgroup one; the file system is still
# the machine's, seen through a private mount namespace. Variables: lab/host/start.ts.
set -eu
case ${1:-} in
'')
  # The cgroup namespace is rooted where its first process stands (cgroup_namespaces(7)), so it stands in the payload
  # alone: a cgroup with processes of its own cannot hand controllers down (cgroup-v2, "no internal process").
  echo 0 >"$CGROUP/payload/cgroup.procs"
  exec unshare --cgroup sh "$0" mounted
  ;;
esac

root=$STATE/root
ip link add eth0 type veth peer name "$VETH" netns /proc/self/fd/9
nsenter --net=/proc/self/fd/9 ip link set "$VETH" master "$BRIDGE" up
exec 9<&-
ip link set lo up
ip link set eth0 up
ip address add "$ADDRESS/24" dev eth0
ip route add default via "$GATEWAY"
ip address add "$ADDRESS6/64" dev eth0 nodad
ip route add default via "$GATEWAY6"

# `volatile` leaves out every sync, which makes installing packages quick; it also forbids a second mount until its mark
# is gone (overlayfs, "volatile mount"). The work directory holds nothing of value, and only a crash of the machine harms.
rm -rf "$STATE/work"
mkdir -p "$STATE/work" "$STATE/upper" "$root"
mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$STATE/upper,workdir=$STATE/work,volatile" "$root"
mount --bind "$PACKAGES" "$root/srv/packages"
mount -o remount,bind,ro "$root/srv/packages"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t sysfs -o nosuid,nodev,noexec,ro sysfs "$root/sys"
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o nosuid,nodev,mode=755,size=128m tmpfs "$root/run"
mount -t tmpfs -o nosuid,nodev,mode=1777,size=1g tmpfs "$root/tmp"

mount -t tmpfs -o nosuid,mode=755,size=4m tmpfs "$root/dev"
mkdir -p "$root/dev/pts" "$root/dev/shm" "$root/dev/net"
for device in null zero full random urandom tty net/tun; do
  [ -e "/dev/$device" ] || continue
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t devpts -o newinstance,nosuid,noexec,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o nosuid,nodev,mode=1777,size=256m tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for stream in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${stream%:*}" "$root/dev/${stream#*:}"; done

# A host's root is root on the machine too (no user namespace: the kernel would refuse it nft's cgroup match and BPF), so
# what is not the host's own is read-only: kernel settings other than those of its network, and the magic SysRq key.
read_only() {
  mount --bind "$1" "$1"
  mount -o remount,bind,ro "$1"
}
[ ! -e "$root/proc/sysrq-trigger" ] || read_only "$root/proc/sysrq-trigger"
read_only "$root/proc/sys"
mount --bind /proc/sys/net "$root/proc/sys/net"

# The kernel has one boot id for the whole machine; a host that boots anew needs a new one, as a real machine has.
cat /proc/sys/kernel/random/uuid >"$root/run/.boot-id"
mount --bind "$root/run/.boot-id" "$root/proc/sys/kernel/random/boot_id"
mount -o remount,bind,ro "$root/proc/sys/kernel/random/boot_id"
umask 022
hostname "$NAME"
cd "$root"
mkdir -p .old
pivot_root . .old
umount -l /.old
rmdir /.old
# SysRq, the clock, modules and raw devices belong to the machine.
exec /usr/bin/env -i container=lxc PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /usr/bin/setpriv --bounding-set -sys_module,-sys_time,-sys_rawio,-mac_admin,-mac_override \
  --inh-caps -sys_module,-sys_time,-sys_rawio,-mac_admin,-mac_override \
  /lib/systemd/systemd --system
