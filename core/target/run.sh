# Second stage, as the user who runs the program: say so, then start it as a process group with a deadline of its own.
nonce=$1 allowed=$2 began=$3 start=$4
shift 4
read -r now rest </proc/uptime
# sudo may have waited so long (for DNS, say) that the caller has given up: then nothing may run any more.
left=$((began + allowed - ${now%.*}))
if [ "$left" -le 0 ]; then printf '%s:late\n' "$nonce" >&2; exit 124; fi
# A login over ssh has no sbin in its PATH, and that is where nft and sysctl are.
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}:/usr/local/sbin:/usr/sbin:/sbin
export PATH
printf '%s:begin\n' "$nonce"
printf '%s:begin:%s\n' "$nonce" "$$" >&2
# timeout(1) makes itself the leader of a process group and passes status and signal of its child on.
exec timeout -k 1 "$left" /bin/sh -c "$start" watertight "$nonce" "$@"
