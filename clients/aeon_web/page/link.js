// The connection to the page's server: calls, and the stream of events, which resumes after the last one.

const KEY = "aeon-key";
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 2000;

export class CallError extends Error {
  constructor(status, reason, message) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

const GONE = "The page's server has ended. Run aeonctl open again for a new page.";

async function post(name, given, signal) {
  let reply;
  try {
    reply = await fetch(`/api/${name}`, {
      method: "POST", signal, credentials: "same-origin", cache: "no-store",
      headers: { "content-type": "application/json", "x-aeon-key": sessionStorage.getItem(KEY) ?? "" },
      body: JSON.stringify(given),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new CallError(0, "PAGE_SERVER_GONE", GONE);
  }
  if (reply.ok) return reply;
  const { reason, message } = await reply.json().catch(() => ({ reason: "UNKNOWN", message: `HTTP ${reply.status}` }));
  throw new CallError(reply.status, reason, message);
}

export const call = async (name, given = {}) => (await post(name, given)).json();

// Exchanges the token of the address for a session, and removes it from the address and the history.
export async function begin() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", "/");
  sessionStorage.setItem(KEY, (await call("begin", { token })).key);
}

// Delivers messages as receive(name, data) until `close`. A lost connection is opened again after the last event, and
// receive("lost", error) says so.
export class Stream {
  constructor(runId, receive) {
    this.runId = runId;
    this.seq = 0;
    this.receive = receive;
    this.closing = new AbortController();
    this.done = this.follow();
  }

  close() {
    this.closing.abort();
  }

  async follow() {
    let wait = FIRST_WAIT_MS;
    while (!this.closing.signal.aborted) {
      try {
        await this.read(() => (wait = FIRST_WAIT_MS));
        throw new CallError(0, "PAGE_SERVER_GONE", GONE);
      } catch (error) {
        if (this.closing.signal.aborted) return;
        this.receive("lost", error);
        if (error.status === 401) return;
      }
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  async read(began) {
    const reply = await post("stream", { run_id: this.runId, after_seq: this.seq }, this.closing.signal);
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = "";
    for (;;) {
      const { value, done } = await reader.read().catch((error) => {
        if (error.name === "AbortError") throw error;
        return { done: true };
      });
      if (done) return;
      began();
      const messages = (waiting + value).split("\n\n");
      waiting = messages.pop();
      for (const message of messages) this.take(message);
    }
  }

  take(message) {
    if (this.closing.signal.aborted) return; // it belongs to a run that is not shown any more
    const fields = Object.fromEntries(message.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
    if (!fields.event) return; // a comment that keeps the connection alive
    if (fields.id) this.seq = Number(fields.id);
    this.receive(fields.event, JSON.parse(fields.data));
  }
}
