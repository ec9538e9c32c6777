#!/bin/sh
# Asks a host for what containment needs, and only says what it saw: probes/*.ts judge it. Runs on a bare host as
#   /bin/sh -s NONCE QUESTION... < prerequisites.sh
# Whatever is printed outside the marked lines is somebody else's.
#
# A status alone never means "absent": sudo, a shell and a tool all say 1 for reasons of their own. So there is a mark
# for a tool or a file that is missing, and everything else is text between marks with the status beside it.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
unset ENV CDPATH IFS

nonce=$1
shift

# Seconds for one tool, and for one question with all its tools; bytes kept of what a question is answered. In base64
# that stays below PIPE_BUF (4096), so that it is one write (pipe(7)).
tool_limit=3
question_limit=12
answer_bytes=2400

# Begins a line of its own, whatever stood before it.
mark() {
  printf '\n@%s@ %s\n' "$nonce" "$*"
}

# run KEY COMMAND...: what the command prints, and its status; once more where that is not 0, which a hang is too.
run() {
  key=$1
  shift
  if ! command -v "$1" > /dev/null 2>&1; then
    mark "no-tool $key"
    return
  fi
  for _ in first second; do
    mark "output $key"
    status=0
    timeout -k 1 "$tool_limit" "$@" < /dev/null 2>&1 || status=$?
    mark "status $key $status"
    [ "$status" -eq 0 ] && return
  done
}

# file KEY PATH COMMAND...: as run, with the path at the end, where the path is there.
file() {
  key=$1
  path=$2
  shift 2
  if [ -e "$path" ]; then
    run "$key" "$@" "$path"
  else
    mark "no-file $key"
  fi
}

ask_os() { file release /etc/os-release cat; }
ask_kernel() { run release uname -r; }
ask_cgroup2() { run type stat -f -c %T /sys/fs/cgroup; }
ask_sudo() { run uid id -u; }
ask_clock() { run epoch date +%s; }
ask_disk() { run space df -P -k /usr /var; }

ask_systemd() {
  run version systemctl --version
  # sd_booted(3): this folder is there where systemd is the init that runs.
  file booted /run/systemd/system stat -c %F
  run state systemctl is-system-running
}

# Puts a file's inode into $inode; once more where that is no number.
inode_of() {
  for _ in first second; do
    inode=$(timeout -k 1 "$tool_limit" stat -c %i "$1" | timeout -k 1 "$tool_limit" head -c 30)
    case $inode in
      '' | *[!0-9]*) ;;
      *) return 0 ;;
    esac
  done
  return 1
}

# Who holds a lock on a file of dpkg or apt: fcntl locks by process and inode (proc_locks(5)).
ask_apt_lock() {
  mark "output holders"
  status=0
  inodes=
  for path in /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock; do
    [ -e "$path" ] || continue
    inode_of "$path" || status=1
    inodes="$inodes $inode "
  done
  while read -r _ type _ _ pid place _; do
    [ "$type" = POSIX ] || continue
    case $inodes in
      *" ${place##*:} "*)
        name=
        { read -r name < "/proc/$pid/comm"; } 2> /dev/null
        printf '%s %s\n' "$pid" "$name"
        ;;
    esac
  done < /proc/locks || status=$?
  mark "status holders $status"
}

ask_nftables() { run version nft --version; }

# Both rules go into a table of their own that the same transaction deletes again: the kernel builds and commits them,
# and nothing stays behind however this ends. The plain rule is the control.
ask_nft_cgroup() {
  scratch="inet watertight_probe_$nonce"
  begin="add table $scratch; add chain $scratch c"
  end="delete table $scratch"
  run version nft --version
  run control nft "$begin; add rule $scratch c counter; $end"
  run rule nft "$begin; add rule $scratch c socket cgroupv2 level 1 \"init.scope\" counter; $end"
}

ask_node() { run version /usr/bin/node --version; }
ask_python3() { run version python3 --version; }
ask_iproute2() { run version ip -V; }

ask_bundle() {
  file digest /usr/lib/watertight/watertight.mjs sha256sum
  file head /usr/lib/watertight/watertight.mjs head -n 2
}

ask_profile() { file digest /etc/watertight/profile.json sha256sum; }

ask_units() {
  run slice systemctl show --property=LoadState watertight.slice
  run ruleset systemctl show --property=LoadState watertight-ruleset.service
}

ask_ruleset() {
  run version nft --version
  run tables nft list tables inet
}

# One line a question, in base64: questions are asked side by side, and a line is one write that no other can split.
# The reader has a limit too: something that outlives its tool and keeps the pipe open costs this question alone.
answer() {
  text=$(
    {
      case $1 in
        os | kernel | cgroup2 | sudo | clock | disk | systemd | nftables | node | python3) "ask_$1" ;;
        iproute2 | bundle | profile | units | ruleset) "ask_$1" ;;
        apt-lock) ask_apt_lock ;;
        nft-cgroup) ask_nft_cgroup ;;
      esac
      mark "answered $1"
    } 2>&1 | timeout -k 1 "$question_limit" head -c "$answer_bytes" | base64 -w 0
  )
  mark "answer $1 $text"
}

asked=0
for question in "$@"; do
  answer "$question" < /dev/null &
  asked=$((asked + 1))
done
wait
mark "done $asked"
