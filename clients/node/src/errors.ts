/** Failed calls, and when to try again. */
import { type ServiceError, status } from "@grpc/grpc-js";

/**
 * A failed call. `code` (of gRPC) says how to react; `reason` is a stable UPPER_SNAKE word for programs, listed in
 * docs/api.md.
 */
export class AeondError extends Error {
  override readonly name = "AeondError";
  /** The invalid part of the request. Empty: none. */
  readonly field: string;
  /** An id to search for in the daemon's log. Empty: none. */
  readonly errorId: string;
  /** The delay that the daemon asks for, in milliseconds. 0: none. */
  readonly retryAfterMs: number;

  constructor(
    message: string,
    readonly code: status,
    readonly reason: string,
    details: { field?: string; errorId?: string; retryAfterMs?: number } = {},
  ) {
    super(message);
    this.field = details.field ?? "";
    this.errorId = details.errorId ?? "";
    this.retryAfterMs = details.retryAfterMs ?? 0;
  }

  /** Whether the call can be repeated: the daemon rejected it before it began, or a repeat is harmless. */
  mayRepeat(repeatable: boolean): boolean {
    const lost = this.code === status.UNAVAILABLE || this.reason === "CONNECTION_LOST";
    return (repeatable && lost) || this.reason === "STARTING" || this.reason === "DRAINING";
  }

  /** Whether a watch should reconnect, because the run is not at fault. */
  get mayFollowOn(): boolean {
    const { UNAVAILABLE, CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED } = status;
    return [UNAVAILABLE, CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED].includes(this.code);
  }
}

/** The codes and reasons of errors that gRPC reports in place of the daemon. */
const OF_GRPC: Partial<Record<status, [status, string]>> = {
  [status.UNAVAILABLE]: [status.UNAVAILABLE, "CONNECTION_LOST"],
  [status.INTERNAL]: [status.UNAVAILABLE, "CONNECTION_LOST"],
  [status.UNKNOWN]: [status.UNAVAILABLE, "CONNECTION_LOST"],
  [status.CANCELLED]: [status.CANCELLED, "CONNECTION_LOST"],
  [status.DEADLINE_EXCEEDED]: [status.DEADLINE_EXCEEDED, "TIMED_OUT"],
  [status.RESOURCE_EXHAUSTED]: [status.INTERNAL, "MESSAGE_TOO_LARGE"],
};

export function errorOf(error: ServiceError): AeondError {
  const text = (key: string) => String(error.metadata?.get(key)[0] ?? "");
  const reason = text("reason");
  const [code, word] = reason ? [error.code, reason] : (OF_GRPC[error.code] ?? [error.code, "INTERNAL"]);
  return new AeondError(error.details, code, word, {
    field: text("field"),
    errorId: text("error-id"),
    retryAfterMs: Number(text("retry-after-ms")) || 0,
  });
}

/** The wait in milliseconds after a failed attempt, counted from 1: it grows from first to longest, with jitter. */
export function delay(attempt: number, first: number, longest: number, asked: number): number {
  const grown = Math.min(first * 2 ** Math.min(attempt - 1, 20), longest);
  return Math.max(grown * (0.5 + Math.random() / 2), Math.min(asked, longest));
}
