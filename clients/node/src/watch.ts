/** Follows a run across lost connections. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ClientReadableStream, type ServiceError, status } from "@grpc/grpc-js";
import { AeondError, delay, errorOf } from "./errors.js";
import type { Event__Output } from "./contract/aeond/api/v1/Event.js";
import type { WatchRunResponse__Output } from "./contract/aeond/api/v1/WatchRunResponse.js";

export type WatchStream = ClientReadableStream<WatchRunResponse__Output>;

/** A stream that lived this long worked; its failure is a new outage, or the renewal of an idle stream. */
const SETTLED_MS = 5_000;

/** `streams` has the stream while it is open; `open` throws an AeondError if there must be no more. */
export async function* follow(
  open: (afterSeq: number) => WatchStream,
  streams: Set<WatchStream>,
  { afterSeq, patienceMs }: { afterSeq: number; patienceMs: number },
): AsyncGenerator<Event__Output, void, undefined> {
  let lastSeq = afterSeq;
  let lostAt: number | undefined;
  let tries = 0;
  while (true) {
    const stream = open(lastSeq);
    streams.add(stream);
    let openedAt: number | undefined;
    // The daemon sends these when it accepts the watch, before any event.
    stream.once("metadata", () => (openedAt = Date.now()));
    try {
      for await (const page of stream as AsyncIterable<WatchRunResponse__Output>) {
        for (const event of page.events) {
          if (event.seq > lastSeq + 1) throw broken("EVENTS_MISSING", "Events are missing in the stream.");
          if (event.seq !== 0) {
            if (event.seq <= lastSeq) continue;
            lastSeq = event.seq;
            lostAt = undefined;
            tries = 0;
          }
          yield event;
          if (event.runEnded) return;
        }
      }
      if (afterSeq > 0 && afterSeq === lastSeq) return; // the run had ended before this watch began
      throw broken("STREAM_ENDED", "The stream ended before the run did.");
    } catch (thrown) {
      const error = thrown instanceof AeondError ? thrown : errorOf(thrown as ServiceError);
      if (!error.mayFollowOn) throw error;
      const lasted = openedAt !== undefined && Date.now() - openedAt >= SETTLED_MS;
      if (lostAt === undefined || lasted) [lostAt, tries] = [Date.now(), 0];
      if (lasted && error.reason === "TIMED_OUT") continue;
      const left = lostAt + patienceMs - Date.now();
      if (left <= 0) throw error;
      await sleep(Math.min(left, delay(++tries, 20, 500, error.retryAfterMs)));
    } finally {
      stream.on("error", () => {}); // the cancellation is reported once more
      stream.cancel();
      streams.delete(stream);
    }
  }
}

function broken(reason: string, message: string): AeondError {
  return new AeondError(message, status.UNAVAILABLE, reason);
}
