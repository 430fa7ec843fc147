#!/bin/sh
# A fleet to look at: three MariaDB servers of which two are replicas, a load, a replica that falls behind again and again because a report
# holds locks on it, a setting that changes, and the page. It ends after MINUTES (5), by Ctrl-C, with its terminal, or with the process that began it,
# and leaves nothing behind, also when it is killed. What a demonstration left that was killed with all its processes, the next one removes.
#   examples/watch/demo.sh [plimsoll [127.0.0.1:7070]]
set -eu
plimsoll=${1:-plimsoll}
listen=${2:-127.0.0.1:7070}
minutes=${MINUTES:-5}
case $plimsoll in */*) plimsoll=$(cd "$(dirname "$plimsoll")" && pwd)/$(basename "$plimsoll") ;; esac

# remove takes the servers and the files of a demonstration away.
remove() {
	PLIMSOLL_HOME=$1 "$plimsoll" lab down --all >/dev/null 2>&1 || echo "a server may still run: PLIMSOLL_HOME=$1 $plimsoll lab down --all" >&2 || true
	cd / && rm -rf "$1"
}

# alive tells whether a process runs, whoever's it is. One that is dead, and for which nobody has waited, has an empty command line.
alive() { grep -qs . "/proc/$1/cmdline"; }

for left in "${TMPDIR:-/tmp}"/plimsoll-demo-watch.*; do
	if [ -f "$left/demo.pid" ] && [ -O "$left" ] && ! alive "$(cat "$left/demo.pid")"; then
		(remove "$left")
	fi
done
PLIMSOLL_HOME=$(mktemp -d "${TMPDIR:-/tmp}/plimsoll-demo-watch.XXXXXX")
export PLIMSOLL_HOME
cd "$PLIMSOLL_HOME" # no inventory of somebody's is watched
echo $$ >demo.pid.new && mv demo.pid.new demo.pid # never empty: another demonstration may look

page='' load=''
stop() {
	trap - EXIT INT TERM
	trap '' HUP PIPE # who began it may be gone, and with them the terminal, and who reads what is said
	kill -KILL "$guard" 2>/dev/null || true
	echo "stopping" >&2 || true
	for one in $load $page; do kill -TERM "$one" 2>/dev/null || true; done
	for one in $load $page; do wait "$one" 2>/dev/null || true; done
	remove "$PLIMSOLL_HOME"
}

# watch_over ends the demonstration when it has another parent, since the process that began it is gone, and clears up after it when it was killed itself.
watch_over() {
	trap '' HUP INT TERM PIPE
	while alive $$; do
		grep -qs "^PPid:[[:space:]]*$PPID\$" /proc/$$/status || kill -TERM $$ 2>/dev/null || true
		sleep 1
	done
	for one in load.pid page.pid; do [ ! -f $one ] || kill -TERM "$(cat $one)" 2>/dev/null || true; done
	remove "$PLIMSOLL_HOME"
}
watch_over >/dev/null 2>&1 &
guard=$!
trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT TERM

"$plimsoll" lab up mariadb --nodes 3 --name demo --set innodb_buffer_pool_size=64M --set performance_schema=ON >/dev/null
"$plimsoll" load prepare --target lab:demo --workload oltp_read_write --param table_size=20000 >/dev/null
"$plimsoll" serve --listen "$listen" >serve.out 2>serve.log &
page=$!
echo "$page" >page.pid
"$plimsoll" load run --target lab:demo --workload oltp_read_write --param table_size=20000 --rate "${RATE:-60}" --connections 16 \
	--duration "$((minutes + 2))m" --report-interval 0 >load.log 2>&1 &
load=$!
echo "$load" >load.pid
until [ -s serve.out ]; do
	kill -0 "$page" 2>/dev/null || { cat serve.log >&2; exit 1; }
	sleep 0.2
done
url=$(cat serve.out)
echo "$url"
echo "Three servers, a load on the first; every minute n3 falls behind for forty seconds. Ends in $minutes minutes, or by Ctrl-C." >&2
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v xdg-open >/dev/null; then xdg-open "$url" >/dev/null 2>&1 || true; fi

left=$((minutes * 6)) # steps of ten seconds
while [ "$left" -gt 0 ]; do
	kill -0 "$page" 2>/dev/null || { cat serve.log >&2; exit 1; }
	kill -0 "$load" 2>/dev/null || { tail -n 5 load.log >&2; exit 1; }
	case $((left % 6)) in
	4) # a report locks the rows that it reads, as one with FOR UPDATE does: what comes from the primary waits for it
		"$plimsoll" lab shell demo --node n3 --execute 'SELECT COUNT(*) FROM plimsoll.sbtest1 WHERE id % 5 = 0 AND SLEEP(0.01) = 0 FOR UPDATE' >/dev/null 2>&1 & ;;
	3) # and somebody changes a setting: a mark on every curve of n1
		"$plimsoll" lab shell demo --node n1 --execute "SET GLOBAL innodb_flush_log_at_trx_commit = $((left / 6 % 2 + 1))" >/dev/null 2>&1 || true ;;
	esac
	left=$((left - 1))
	sleep 10
done
