# First stage, as the login user: say that the login shell works, then become root where asked.
nonce=$1 become=$2 allowed=$3 run=$4 start=$5
shift 5
printf '%s:login:%s\n' "$nonce" "$$" >&2
read -r began rest </proc/uptime
set -- /bin/sh -c "$run" watertight "$nonce" "$allowed" "${began%.*}" "$start" "$@"
if [ "$become" = no ] || [ "$(id -u)" = 0 ]; then exec "$@"; fi
exec sudo -n -- "$@"
