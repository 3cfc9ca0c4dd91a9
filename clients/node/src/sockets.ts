/** Finds the daemon's socket. */
import { statSync } from "node:fs";
import { connect } from "node:net";
import { isAbsolute, join } from "node:path";
import { status } from "@grpc/grpc-js";
import { AeondError } from "./errors.js";

/** The path of the first socket on which a daemon is listening. A given socket is the only candidate. */
export async function findSocket(given: string): Promise<string> {
  const chosen = given || process.env.AEOND_SOCKET;
  const candidates = chosen ? [chosen] : [userSocket(), "/run/aeond/aeond.sock"];
  for (const path of candidates) if (await isListening(path)) return path;
  const message = `No daemon is listening; start one, or set AEOND_SOCKET. Tried: ${candidates.join(", ")}`;
  throw new AeondError(message, status.UNAVAILABLE, "NO_DAEMON");
}

function userSocket(): string {
  const session = process.env.XDG_RUNTIME_DIR || `/run/user/${process.getuid?.()}`;
  if (statSync(session, { throwIfNoEntry: false })?.isDirectory()) return join(session, "aeond", "aeond.sock");
  const state = process.env.XDG_STATE_HOME ?? "";
  const folder = isAbsolute(state) ? state : join(process.env.HOME ?? "/", ".local", "state");
  return join(folder, "aeond", "run", "aeond.sock");
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    const settle = (found: boolean) => {
      probe.destroy();
      resolve(found);
    };
    probe.setTimeout(1_000, () => settle(false));
    probe.once("connect", () => settle(true)).once("error", () => settle(false));
  });
}
