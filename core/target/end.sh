# Ends a process group that run.sh began: SIGTERM, and SIGKILL a second later to whatever is left of it.
group=$1 nonce=$2
# The number may have passed to another process since: the leader of ours has the nonce among its arguments. No leader
# (or a dead one, whose arguments are gone) is ours too, since a number stays taken while its group has members.
arguments=$(tr '\0' '\n' 2>/dev/null <"/proc/$group/cmdline")
if [ -n "$arguments" ] && ! printf '%s\n' "$arguments" | grep -qxF -e "$nonce"; then exit 0; fi
kill -s TERM -- "-$group" 2>/dev/null || exit 0
tries=0
while kill -s 0 -- "-$group" 2>/dev/null && [ "$tries" -lt 10 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
kill -s KILL -- "-$group" 2>/dev/null
exit 0
