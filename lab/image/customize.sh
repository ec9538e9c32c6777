#!/bin/sh
# Run by mmdebstrap in the finished root ($1), before it cleans up. Makes a real host of it: users, sudo, a quiet boot;
# and downloads what hosts may install later, with all that it needs beyond the image, into $WATERTIGHT_PACKAGES.
set -eu
root=$1

chroot "$root" useradd --uid 1000 --create-home --shell /bin/bash ops
chroot "$root" useradd --uid 1001 --create-home --shell /bin/bash opencode
install -m 0440 /dev/stdin "$root/etc/sudoers.d/ops" <<'SUDOERS'
ops ALL=(ALL:ALL) NOPASSWD: ALL
SUDOERS

# The lab's key stands outside every home, so that what a test does to a home does not lock the lab out.
echo 'AuthorizedKeysFile .ssh/authorized_keys /etc/ssh/authorized_keys.d/%u' >"$root/etc/ssh/sshd_config.d/lab.conf"

# Every host gets keys and an identity of its own.
rm -f "$root"/etc/ssh/ssh_host_*
: >"$root/etc/machine-id"

# A host without an internet has nothing to update by itself, and a timer of apt's would hold apt's lock at odd moments.
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
  fstrim.timer console-getty.service getty.target getty-static.service systemd-networkd.service \
  systemd-networkd.socket systemd-networkd-wait-online.service systemd-journald-audit.socket; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
chroot "$root" systemctl set-default multi-user.target
install -D -m 0644 /dev/stdin "$root/etc/systemd/journald.conf.d/lab.conf" <<'JOURNALD'
[Journal]
Storage=volatile
RuntimeMaxUse=32M
JOURNALD

# apt's configuration outside the root, which mmdebstrap wrote, points into it and knows the way to the mirror.
mkdir -p "$WATERTIGHT_PACKAGES"
# shellcheck disable=SC2086 # a list of package names
APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get --yes --download-only --no-install-recommends \
  -o Dir::Cache::Archives="$WATERTIGHT_PACKAGES" -o APT::Sandbox::User=root install $WATERTIGHT_INSTALLABLE
rm -rf "$WATERTIGHT_PACKAGES/partial" "$WATERTIGHT_PACKAGES/lock"
(cd "$WATERTIGHT_PACKAGES" && apt-ftparchive packages . >Packages)

# From here on the host knows one source of packages: the folder that the lab binds into it.
rm -f "$root"/etc/apt/sources.list.d/* "$root"/etc/apt/apt.conf.d/99mmdebstrap "$root/etc/resolv.conf" "$root/etc/hostname"
echo 'deb [trusted=yes] file:/srv/packages ./' >"$root/etc/apt/sources.list"
mkdir -p "$root/srv/packages"
