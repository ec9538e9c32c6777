# Reads the state of everything that provision looks after. Nothing on the host changes. Runs under dash on a bare host.
#   sh -s -- NONCE MANIFEST [KIND NAME]…     KIND: file | user | unit; DESIRED holds the ruleset in base64
# What the manifest of an earlier run names is read as well. The last record is `end`; without it nothing counts.
NONCE=$1
MANIFEST=$2
shift 2
umask 077

file_fact() {
  if ! meta=$(stat -c '%F|%a|%U|%u|%G|%g|%s' -- "$1" 2>&1); then
    case $meta in
      *'No such file or directory' | *'Not a directory') record file "$1" absent ;;
      *) record file "$1" error "$(printf '%s' "$meta" | encode)" ;;
    esac
    return 0
  fi
  type=${meta%%|*}
  digest='' content=''
  case $type in
    regular*)
      digest=$(sha256sum <"$1" 2>/dev/null) || { record file "$1" error "$(printf 'unreadable' | encode)"; return 0; }
      digest=${digest%% *}
      # A megabyte of bundle is compared by its digest; what is shown in a diff or put back is small.
      if [ "${meta##*|}" -le 262144 ]; then content=$(encode <"$1"); fi ;;
  esac
  record file "$1" present "$meta" "$digest" "$content"
}

user_fact() {
  line=$(getent passwd "$1")
  case $? in
    0) record user "$1" present "$(printf '%s' "$line" | encode)" "$(id -Gn -- "$1" 2>/dev/null | encode)" ;;
    2) record user "$1" absent ;;
    *) record user "$1" error ;;
  esac
}

units=''
fact() {
  case $1 in
    file | directory | permission) file_fact "$2" ;;
    user) user_fact "$2" ;;
    unit) units="$units$2
" ;;
  esac
}

# A function is read to its end before it runs: what it starts cannot swallow the rest of this script from standard input.
main() {
  while [ $# -ge 2 ]; do
    fact "$1" "$2"
    shift 2
  done
  if [ -r "$MANIFEST" ]; then
    while read -r kind name; do fact "$kind" "$name"; done <"$MANIFEST"
  fi

  if [ -n "$units" ]; then
    properties=Id,LoadState,ActiveState,UnitFileState,NeedDaemonReload,DropInPaths
    text=$(printf '%s' "$units" | sort -u | timeout -k 1 20 xargs -d '\n' systemctl show -p "$properties" -- 2>&1)
    record units "$?" "$(printf '%s' "$text" | encode)"
  else
    record units 0 ''
  fi

  text=$(dpkg-query -W -f '${Package}\t${db:Status-Abbrev}\t${Version}\n' 2>&1)
  record packages "$?" "$(printf '%s' "$text" | encode)"

  live_listing
  if [ -n "$DESIRED" ]; then printf '%s' "$DESIRED" | base64 -d | scratch_listing desired; fi
  if [ -r /etc/watertight/watertight.nft ]; then scratch_listing installed </etc/watertight/watertight.nft; fi
  record end ok
}
main "$@"
