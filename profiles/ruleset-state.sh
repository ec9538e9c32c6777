# Functions that list the table twice: as it is loaded, and as a ruleset would make it when loaded into a scratch network
# namespace over the same cgroup tree. Equal texts mean the same rules, the same cgroup ids, hooks in place and not dormant.
# Nothing on the host changes. $NONCE frames every answer; fields are separated by tabs, free text is base64.
LC_ALL=C
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH

record() {
  printf '%s' "$NONCE"
  for field do printf '\t%s' "$field"; done
  printf '\n'
}

encode() { base64 | tr -d '\n'; }

# answer NAME STATUS TEXT
answer() { record ruleset "$1" "$2" "$(printf '%s' "$3" | encode)"; }

live_listing() {
  command -v nft >/dev/null 2>&1 || { answer live no-tool ''; return 0; }
  text=$(timeout -k 1 10 nft list table inet watertight </dev/null 2>&1)
  answer live "$?" "$text"
}

# scratch_listing NAME, the ruleset on standard input
scratch_listing() {
  command -v nft >/dev/null 2>&1 || { answer "$1" no-tool ''; return 0; }
  text=$(timeout -k 1 10 unshare --net sh -c 'nft -f - && nft list table inet watertight' 2>&1)
  answer "$1" "$?" "$text"
}
