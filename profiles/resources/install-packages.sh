# Installs packages without ever asking, and notes which ones came with them.
#   sh -s -- NOTE PACKAGE…       NOTE: file that names, one a line, every package that provision brought in
# A run that is killed leaves NOTE.before behind, and the next run counts from there, so nothing goes unnoted.
set -u
umask 022
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a
note=$1
shift

installed() { dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' | awk '$2 ~ /^.[^n]/ { print $1 }' | sort -u; }

take_note() {
  [ -s "$note.before" ] || return 0
  installed >"$note.after" || return 1
  { cat "$note" 2>/dev/null; comm -13 "$note.before" "$note.after"; } | sort -u >"$note.new" || return 1
  mv -f "$note.new" "$note" && rm -f "$note.before" "$note.after"
}

# Shows what a program says line by line while it runs, but for its errors: an attempt may fail and the next one succeed, and
# what went wrong in the last of them is said in the end. tee -p and the pipe's reader may lose their listener: a connection
# that is cut must not end dpkg in the middle of a package.
aloud() {
  { "$@"; echo "$?" >"$log.status"; } | tee -p "$log" | stdbuf -oL tr '\r' '\n' | sed -u '/^E: /d'
  return "$(cat "$log.status")"
}

# apt-get waits for dpkg's lock by itself, and says so; the lists have a lock of their own, which it does not wait for.
patiently() {
  tries=0
  while :; do
    aloud "$@" && return 0
    status=$?
    grep -q 'Could not get lock\|is another process using it' "$log" || return "$status"
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || return "$status"
    echo "waiting for apt's lock"
    sleep 2
  done
}

apt() {
  apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}

# A function is read to its end before it runs: what it starts cannot swallow the rest of this script from standard input.
main() {
  exec 2>&1 </dev/null
  log=$(mktemp /run/watertight-apt.XXXXXX) || exit 1
  trap 'rm -f "$log" "$log.status"' EXIT
  # The listener may be gone; a handler, unlike ignoring it, is not passed on to apt.
  trap : PIPE
  mkdir -p "$(dirname "$note")" || exit 1
  [ -s "$note.before" ] || installed >"$note.before" || exit 1
  # A dpkg that was killed in mid-run refuses everything until it has finished what it began.
  [ -z "$(dpkg --audit)" ] || patiently dpkg --force-confdef --force-confold --configure -a
  # A host that has never fetched its lists, or whose lists name packages that are gone from the mirror.
  apt -s install --no-install-recommends -- "$@" >/dev/null 2>&1 || patiently apt update
  patiently apt install --no-install-recommends -- "$@" || {
    patiently apt update && patiently apt install --no-install-recommends -- "$@"
  }
  status=$?
  [ "$status" -eq 0 ] || grep '^E: ' "$log"
  take_note || exit 1
  exit "$status"
}
main "$@"
