# Last stage: set the variables, become the program. dash runs the trap where exec fails, bash does not and is asked first.
trap "printf '%s:cannot-spawn\n' $1 >&2" EXIT
shift
while [ "$1" != -- ]; do export "$1"; shift; done
shift
command -v "$1" >/dev/null || exit 127
exec "$@"
