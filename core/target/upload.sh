# Places standard input at a path. The file is written beside its place and renamed, so it is whole or absent.
path=$1 mode=$2 size=$3
case $path in */*) folder=${path%/*}/ ;; *) folder=./ ;; esac
umask 077
temporary=$(mktemp -- "$folder.watertight-XXXXXXXXXX") || exit 1
trap 'rm -f -- "$temporary"' EXIT
trap 'exit 1' HUP INT TERM
# Where the connection is gone, a complaint about it would be the end of this shell before it has tidied up.
trap '' PIPE
cat >"$temporary" || exit 1
# A connection that breaks looks like the end of the file: only the size tells.
received=$(wc -c <"$temporary")
if [ "$received" -ne "$size" ]; then
  printf 'received %s of %s bytes\n' "$received" "$size" >&2
  exit 1
fi
chmod -- "$mode" "$temporary" && sync -- "$temporary" && mv -fT -- "$temporary" "$path" && sync -- "$folder"
