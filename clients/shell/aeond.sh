# shellcheck shell=bash
# Functions for bash scripts that call aeond without Python: `. aeond.sh`, then
#
#     aeond_ask "What is 17.5% of 2400?" | jq -r '.answerComposed.answer.text // empty'
#
# They need bash 4.4, and `buf`, which reads the contract from the daemon through server reflection, and `jq`. Events and runs are
# lines of JSON as protobuf defines it. A failed call prints `REASON FIELD: message` to standard error, and its exit
# status is the code of gRPC (5: NOT_FOUND). Scripts may use `set -euo pipefail`: `local -` restores the options of the
# caller. Every wait has a deadline and every retry a limit:
AEOND_CALL_SECONDS=${AEOND_CALL_SECONDS:-30}          # deadline of each attempt of a call
AEOND_ATTEMPTS=${AEOND_ATTEMPTS:-6}                   # attempts of a call that is safe to repeat
AEOND_PATIENCE_SECONDS=${AEOND_PATIENCE_SECONDS:-60}  # how long a watch waits for a daemon that has gone away
AEOND_STREAM_SECONDS=${AEOND_STREAM_SECONDS:-600}     # a stream is renewed after this time

# aeond_ask TEXT: creates a run and prints its events.
aeond_ask() {
  local - run opened
  set +eu +o pipefail
  opened=$(_aeond_opened) || return
  run=$(_AEOND_OPENED=$opened aeond_create "$(jq -cn --arg text "$1" '{request: {$text}}')") || return
  _AEOND_OPENED=$opened aeond_watch "$(jq -r .runId <<<"$run")"
}

# aeond_create REQUEST: prints the run of a CreateRunRequest in JSON. Without a requestId it gets a random one, so that
# a repeat is safe.
aeond_create() {
  local request
  request=$(jq -c --arg id "$(</proc/sys/kernel/random/uuid)" '.request.requestId //= $id' <<<"$1" 2>/dev/null) || {
    echo "INVALID_JSON request: the text is not a JSON object" >&2 && return 3
  }
  _aeond_repeat CreateRun "$request"
}

# aeond_get RUN_ID: prints the run.
aeond_get() { _aeond_repeat GetRun "$(jq -cn --arg runId "$1" '{$runId}')"; }

# aeond_answer RUN_ID JSON [QUESTION_ID]: answers a question, by default the only open one. It is never repeated.
aeond_answer() {
  local request
  request=$(jq -cn --arg runId "$1" --arg answerJson "$2" --arg questionId "${3:-}" '$ARGS.named') || return
  AEOND_ATTEMPTS=1 _aeond_repeat AnswerRun "$request"
}

# aeond_cancel RUN_ID [REASON]: requests the cancellation of a run; a run that has ended stays unchanged.
aeond_cancel() { _aeond_repeat CancelRun "$(jq -cn --arg runId "$1" --arg reason "${2:-}" '$ARGS.named')"; }

# aeond_watch RUN_ID [AFTER_SEQ]: prints the events after that one, without gaps or duplicates, across lost connections
# and restarts of the daemon. To resume later, keep the last seq. Events without seq are live updates.
aeond_watch() {
  local - run_id=$1 first=${2:-0} last=${2:-0} try=0 lost=0 code began socket problem seq ended event
  set +eu +o pipefail
  socket=$(_aeond_opened) || return
  problem=$(mktemp) || return
  while :; do
    began=$SECONDS code=14
    # Each line is `SEQ ENDED EVENT`; the last one is the code with which the stream ended.
    while read -r seq ended event; do
      [[ $seq == code ]] && code=$ended && break
      ((seq > last + 1)) && code=14 && break
      ((seq > 0 && seq <= last)) && continue
      printf '%s\n' "$event" || { code=1 && break 2; }
      ((seq > 0)) && last=$seq try=0 lost=0
      [[ $ended == true ]] && code=0 && break 2
    done < <(
      _aeond_call "$socket" WatchRun "$(jq -cn --arg runId "$run_id" --arg afterSeq "$last" '$ARGS.named')" \
        "$AEOND_STREAM_SECONDS" 2>"$problem" |
        jq --unbuffered -r '.events[] | "\(.seq // 0) \(has("runEnded")) \(tojson)"'
      echo "code ${PIPESTATUS[0]}"
    )
    ((code == 0 && first > 0 && first == last)) && break # the run had ended before this watch began
    ((code == 0)) && code=14 # the stream ended before the run did
    _aeond_is_lost "$code" "$problem" || break
    ((lost == 0 || SECONDS - began >= 5)) && lost=$SECONDS try=0
    ((code == 4 && SECONDS - began >= 5)) && continue # an idle stream is renewed
    ((SECONDS - lost >= AEOND_PATIENCE_SECONDS)) && break
    sleep "$(_aeond_delay $((++try)) 20 500)"
  done
  ((code == 0)) || cat "$problem" >&2
  rm -f "$problem"
  return "$code"
}

# _aeond_is_lost CODE PROBLEM_FILE: whether a watch should reconnect, because the run is not at fault: for CANCELLED,
# DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and UNAVAILABLE, and for UNKNOWN and INTERNAL if the daemon gave no reason.
_aeond_is_lost() {
  case $1 in
    1 | 4 | 8 | 14) true ;;
    2 | 13) ! grep -qv ^CONNECTION_LOST "$2" ;;
    *) false ;;
  esac
}

# _aeond_repeat METHOD REQUEST: makes a call, up to AEOND_ATTEMPTS times while the daemon is away; prints the run.
_aeond_repeat() {
  local - try code socket problem
  set +eu +o pipefail
  socket=$(_aeond_opened) || return
  problem=$(mktemp) || return
  for ((try = 1; ; try++)); do
    _aeond_call "$socket" "$1" "$2" "$AEOND_CALL_SECONDS" 2>"$problem" | jq -c .run
    code=${PIPESTATUS[0]}
    ((code == 14 && try < AEOND_ATTEMPTS)) || break
    sleep "$(_aeond_delay "$try" 50 2000)"
  done
  ((code == 0)) || cat "$problem" >&2
  rm -f "$problem"
  return "$code"
}

# _aeond_call SOCKET METHOD REQUEST SECONDS: one call, its responses as JSON, its problem as one line on standard error.
_aeond_call() {
  {
    _aeond_curl "$@" 2>&1 >&3 3>&- | _aeond_problem >&2
    _aeond_status "${PIPESTATUS[@]}"
  } 3>&1
}

_aeond_curl() {
  buf curl --verbose --protocol grpc --reflect-protocol grpc-v1alpha --unix-socket "$1" --timeout "$4s" --data "$3" \
    "http://localhost/aeond.api.v1.RunService/$2"
}

# buf's exit status is eight times the code of gRPC, or less than eight if it could not call at all: because the request
# does not fit the contract, which is what the other status says, or because of the connection.
_aeond_status() { return $(($1 >= 8 ? $1 / 8 : $2 > 0 ? 3 : $1 > 0 ? 14 : 0)); }

# The last call's reason, field and message in the log of `buf curl --verbose`. Fails if buf could not read the request.
_aeond_problem() {
  awk '
    / > .*POST / { reason = field = "" }
    / < .* Reason: / { reason = $NF }
    / < .* Field: / { field = " " $NF }
    /^Failure: / { message = $0 }
    /^ *"message": / { message = $0; gsub(/^ *"message": "|",?$/, "", message) }
    sub(/^Failure: json unmarshal: /, "") { message = $0; reason = "MALFORMED_MESSAGE"; unreadable = 1 }
    END { if (message) print (reason ? reason : "CONNECTION_LOST") field ": " message; exit unreadable }'
}

# _aeond_delay TRY FIRST LONGEST: seconds to wait after that try, growing, with jitter; the others are milliseconds.
_aeond_delay() {
  local wait=$(($2 << ($1 < 12 ? $1 - 1 : 11)))
  ((wait > $3)) && wait=$3
  wait=$((wait / 2 + RANDOM % (wait / 2)))
  printf '%d.%03d' $((wait / 1000)) $((wait % 1000))
}

# The first socket on which a daemon is listening: $AEOND_SOCKET, else that of the user's daemon, else that of the system's.
# A watch, or a call with its repeats, stays with it, as one client does in the other languages.
_aeond_opened() {
  [[ ${_AEOND_OPENED:-} ]] && printf '%s' "$_AEOND_OPENED" && return
  local session=${XDG_RUNTIME_DIR:-/run/user/$UID} path
  local user=$session/aeond/aeond.sock
  [[ ${XDG_STATE_HOME:-} == /* ]] || local XDG_STATE_HOME=$HOME/.local/state
  [[ -d $session ]] || user=$XDG_STATE_HOME/aeond/run/aeond.sock
  for path in "${AEOND_SOCKET:-$user}" "${AEOND_SOCKET:-/run/aeond/aeond.sock}"; do
    # A daemon that was killed leaves its socket, to which no request can be sent.
    [[ -S $path ]] && _aeond_curl "$path" GetRun "{}" 5 2>&1 | grep -q ' > .*POST' && printf '%s' "$path" && return
  done
  echo "NO_DAEMON: no daemon is listening on ${AEOND_SOCKET:-$user}; start a daemon, or set AEOND_SOCKET" >&2
  return 14
}
