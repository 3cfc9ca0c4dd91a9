"""The budget ledger of a run: amounts are reserved before use and settled after it; no limit is exceeded."""

from dataclasses import field, fields
from typing import Final

from aeond.domain.policy import DecidedCall
from aeond.frozen import frozen

MAX_MODEL_CALLS: Final = 32  # of an operation or a step, that are listed one by one


@frozen
class Amounts:
    """Quantities of each consumable dimension. `ttl` counts step executions."""

    ttl: int = 0
    llm_calls: int = 0
    tokens: int = 0
    tool_calls: int = 0
    passes: int = 0

    def __add__(self, other: "Amounts") -> "Amounts":
        return Amounts(
            self.ttl + other.ttl,
            self.llm_calls + other.llm_calls,
            self.tokens + other.tokens,
            self.tool_calls + other.tool_calls,
            self.passes + other.passes,
        )

    def __sub__(self, other: "Amounts") -> "Amounts":
        return Amounts(
            self.ttl - other.ttl,
            self.llm_calls - other.llm_calls,
            self.tokens - other.tokens,
            self.tool_calls - other.tool_calls,
            self.passes - other.passes,
        )

    def at_most(self, other: "Amounts") -> "Amounts":
        """The minimum in each dimension."""
        return Amounts(
            min(self.ttl, other.ttl),
            min(self.llm_calls, other.llm_calls),
            min(self.tokens, other.tokens),
            min(self.tool_calls, other.tool_calls),
            min(self.passes, other.passes),
        )

    def exceeding(self, other: "Amounts") -> str:
        """The first dimension in which this exceeds `other`, or ""."""
        if (
            self.ttl <= other.ttl
            and self.llm_calls <= other.llm_calls
            and self.tokens <= other.tokens
            and self.tool_calls <= other.tool_calls
            and self.passes <= other.passes
        ):
            return ""
        return next(name for name in DIMENSIONS if getattr(self, name) > getattr(other, name))


DIMENSIONS: tuple[str, ...] = tuple(f.name for f in fields(Amounts))


@frozen
class Budget:
    """The limits of one run. `wall_seconds` is working time; it does not include time when the daemon is
    down. `depth` is the number of levels of child runs allowed below this one.
    """

    ttl: int = 50
    llm_calls: int = 40
    tokens: int = 100_000
    tool_calls: int = 50
    passes: int = 8
    wall_seconds: float = 900.0
    depth: int = 3

    @property
    def amounts(self) -> Amounts:
        return Amounts(self.ttl, self.llm_calls, self.tokens, self.tool_calls, self.passes)

    def at_most(self, other: "Budget") -> "Budget":
        """The minimum of each limit."""
        return Budget(*(min(getattr(self, f.name), getattr(other, f.name)) for f in fields(Budget)))


@frozen
class BudgetLedger:
    """Amounts used, amounts reserved for work in flight, and the remainder. Invariant: used + reserved <=
    limit.
    """

    limit: Budget = field(default_factory=Budget)
    used: Amounts = field(default_factory=Amounts)
    reserved: Amounts = field(default_factory=Amounts)

    @property
    def left(self) -> Amounts:
        """The amounts that can still be reserved."""
        limit, used, reserved = self.limit, self.used, self.reserved
        return Amounts(
            limit.ttl - used.ttl - reserved.ttl,
            limit.llm_calls - used.llm_calls - reserved.llm_calls,
            limit.tokens - used.tokens - reserved.tokens,
            limit.tool_calls - used.tool_calls - reserved.tool_calls,
            limit.passes - used.passes - reserved.passes,
        )

    def reserve(self, amounts: Amounts) -> "BudgetLedger":
        """Reserves amounts. ValueError if a dimension has too little left."""
        over = amounts.exceeding(self.left)
        if over:
            raise ValueError(
                f"the budget's {over} has {getattr(self.left, over)} left, not {getattr(amounts, over)}"
            )
        return BudgetLedger(self.limit, self.used, self.reserved + amounts)

    def share(self, elapsed_seconds: float) -> Budget:
        """The limit for a child run: half of the remaining amounts, all remaining time, one level less."""
        left = self.left
        return Budget(
            left.ttl // 2,
            left.llm_calls // 2,
            left.tokens // 2,
            left.tool_calls // 2,
            left.passes // 2,
            wall_seconds=max(0.0, self.limit.wall_seconds - elapsed_seconds),
            depth=self.limit.depth - 1,
        )

    def adjust(self, limit: Budget, bound: Budget) -> "BudgetLedger":
        """The same use under another limit. ValueError if the limit exceeds the bound or is below the amounts
        already used and reserved.
        """
        over = limit.amounts.exceeding(bound.amounts)
        if over:
            raise ValueError(f"the budget's {over} is above the run's bound")
        if (limit.wall_seconds, limit.depth) != (bound.wall_seconds, bound.depth):
            raise ValueError("wall_seconds and depth of a run cannot be changed after its creation")
        short = (self.used + self.reserved).exceeding(limit.amounts)
        if short:
            raise ValueError(f"the budget's {short} is below the amount used and reserved")
        return BudgetLedger(limit, self.used, self.reserved)

    def settle(self, reservation: Amounts, used: Amounts) -> "BudgetLedger":
        """Replaces a reservation with the amounts actually used. ValueError if they exceed the
        reservation.
        """
        over = used.exceeding(reservation)
        if over:
            raise ValueError(
                f"more {over} used ({getattr(used, over)}) than reserved ({getattr(reservation, over)})"
            )
        return BudgetLedger(self.limit, self.used + used, self.reserved - reservation)


@frozen
class ModelCall:
    """One answer of a model. `cached_tokens` is the part of the prompt served from the prefix cache, `first_token_seconds` the time to
    the first token, `engine_seconds` the whole time, `end_time` the wall clock's at its end. 0: not measured.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    first_token_seconds: float = 0.0
    engine_seconds: float = 0.0
    end_time: float = 0.0


@frozen
class ModelUse:
    """Model usage of an operation: the sums of its calls, but `first_token_seconds` is that of the first answer. `calls` are the first
    MAX_MODEL_CALLS of them in the order of their ends, without those that an agent made by itself.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    first_token_seconds: float = 0.0
    engine_seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()

    @classmethod
    def of(cls, call: ModelCall) -> "ModelUse":
        """The use of one call."""
        return cls(
            call.prompt_tokens,
            call.completion_tokens,
            call.cached_tokens,
            call.first_token_seconds,
            call.engine_seconds,
            (call,),
        )

    def __add__(self, other: "ModelUse") -> "ModelUse":
        return ModelUse(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.first_token_seconds or other.first_token_seconds,
            self.engine_seconds + other.engine_seconds,
            (self.calls + other.calls)[:MAX_MODEL_CALLS],
        )

    @property
    def rest(self) -> ModelCall | None:
        """The sums of the calls that are not among `calls`; None if all of them are."""
        left = ModelCall(
            self.prompt_tokens - sum(call.prompt_tokens for call in self.calls),
            self.completion_tokens - sum(call.completion_tokens for call in self.calls),
            self.cached_tokens - sum(call.cached_tokens for call in self.calls),
            0.0 if self.calls else self.first_token_seconds,
            self.engine_seconds - sum(call.engine_seconds for call in self.calls),
        )
        return left if not self.calls or left.prompt_tokens or left.completion_tokens else None


class Grant:
    """A reservation in use: the one mutable counter, owned by the operation it was reserved for, together
    with that operation's model usage and the policy's decisions about its calls.

    Call `take` before each use. It refuses instead of overshooting, so `used` never exceeds the reservation,
    whatever a model does.
    """

    __slots__ = ("decisions", "model_use", "reservation", "used")

    def __init__(self, reservation: Amounts) -> None:
        self.reservation = reservation
        self.used = Amounts()
        self.model_use: ModelUse | None = None
        self.decisions: list[DecidedCall] = []

    def note(self, use: ModelUse) -> None:
        """Adds model usage; this limits nothing."""
        self.model_use = use if self.model_use is None else self.model_use + use

    @property
    def left(self) -> Amounts:
        return self.reservation - self.used

    def take(self, amounts: Amounts) -> bool:
        """Counts the amounts as used if they fit, and returns whether they did."""
        if amounts.exceeding(self.left):
            return False
        self.used = self.used + amounts
        return True

    def give_back(self, amounts: Amounts) -> None:
        """Returns amounts that were taken but not needed, such as the tokens that an answer did not fill."""
        if amounts.exceeding(self.used):
            raise ValueError("more was given back than taken")
        self.used = self.used - amounts


@frozen
class BudgetRequest:
    """The limits requested by a client; None selects the daemon's default."""

    ttl: int | None = None
    llm_calls: int | None = None
    tokens: int | None = None
    tool_calls: int | None = None
    passes: int | None = None
    wall_seconds: float | None = None
    depth: int | None = None

    def within(self, limit: Budget, default: Budget) -> Budget:
        """The requested limits, with defaults filled in, capped by `limit`."""
        chosen = {}
        for dimension in fields(Budget):
            asked = getattr(self, dimension.name)
            wanted = getattr(default, dimension.name) if asked is None else asked
            chosen[dimension.name] = min(wanted, getattr(limit, dimension.name))
        return Budget(**chosen)
