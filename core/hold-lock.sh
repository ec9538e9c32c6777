# Takes a host's lock and holds it for as long as standard input stays open. The kernel closes the other end of that pipe
# however its owner dies, so a lock never outlives its holder; the file says who that is.
#   sh -c TEXT watertight-lock LOCK WHO SECONDS       ends with 75 where the lock is not free within so many seconds
# Root's alone: whoever can read a file can lock it (flock(2)), and hold up every proof by that.
umask 022
while :; do
  mkdir -p -- "${1%/*}" && (umask 077 && : >>"$1") && chmod 600 -- "$1" && exec 9>>"$1" || exit 1
  flock -w "$3" -E 75 9 || exit
  # Its last holder may have taken the file away with everything of ours: then this is the lock of no path any more.
  [ "$1" -ef /proc/self/fd/9 ] && break
done
printf '%s\n' "$2" >"$1" && echo locked && exec cat >/dev/null
