# Takes the host's lock and holds it for as long as standard input stays open: whoever is cut off lets go of it.
#   sh -c TEXT watertight-lock LOCK WHO
mkdir -p -- "${1%/*}" && exec flock -w 120 -E 75 -- "$1" \
  /bin/sh -c 'printf "%s\n" "$2" >"$1" && echo locked && exec cat >/dev/null' watertight-lock "$1" "$2"
