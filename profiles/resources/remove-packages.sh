# Takes away the packages that provision brought, unless something that came later needs them.
#   sh -s -- PACKAGE…
set -u
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a
# A function is read to its end before it runs: what it starts cannot swallow the rest of this script from standard input.
main() {
  exec 2>&1 </dev/null
  folder=$(mktemp -d /run/watertight-apt.XXXXXX) || exit 1
  trap 'rm -rf "$folder"' EXIT
  printf '%s\n' "$@" | sort -u >"$folder/ours"
  dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' | awk '$2 ~ /^.[^n]/ { print $1 }' | sort -u >"$folder/there"
  comm -12 "$folder/ours" "$folder/there" >"$folder/purge"
  [ -s "$folder/purge" ] || exit 0
  xargs apt-get -q -s purge -- <"$folder/purge" >"$folder/plan" || { tail -n 3 "$folder/plan"; exit 1; }
  awk '/^(Remv|Purg) /{ sub(/:.*/, "", $2); print $2 }' "$folder/plan" | sort -u | comm -23 - "$folder/purge" >"$folder/others"
  if [ -s "$folder/others" ]; then
    echo "these need packages that provision installed: $(tr '\n' ' ' <"$folder/others")"
    exit 1
  fi
  xargs apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 purge -- <"$folder/purge"
}
main "$@"
