"""Every bound of a run in one ledger: reserved before use, settled after, never overshot."""

from dataclasses import field, fields

from aeond.frozen import frozen


@frozen
class Amounts:
    """How much of each consumable dimension. `ttl` counts step executions."""

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
        """The smaller of the two in each dimension."""
        return Amounts(
            min(self.ttl, other.ttl),
            min(self.llm_calls, other.llm_calls),
            min(self.tokens, other.tokens),
            min(self.tool_calls, other.tool_calls),
            min(self.passes, other.passes),
        )

    def exceeding(self, other: "Amounts") -> str:
        """The first dimension in which this is more than `other`, or ""."""
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
    """The bounds of one run. `wall_seconds` is time spent working, not waiting for a daemon that is down;
    `depth` is how deep child runs may nest below this one."""

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
        """The smaller of the two in each bound."""
        return Budget(*(min(getattr(self, f.name), getattr(other, f.name)) for f in fields(Budget)))


@frozen
class BudgetLedger:
    """What is used, what is reserved for work in flight, what is left. Used + reserved <= limit, always."""

    limit: Budget = field(default_factory=Budget)
    used: Amounts = field(default_factory=Amounts)
    reserved: Amounts = field(default_factory=Amounts)

    @property
    def left(self) -> Amounts:
        """What may still be reserved."""
        limit, used, reserved = self.limit, self.used, self.reserved
        return Amounts(
            limit.ttl - used.ttl - reserved.ttl,
            limit.llm_calls - used.llm_calls - reserved.llm_calls,
            limit.tokens - used.tokens - reserved.tokens,
            limit.tool_calls - used.tool_calls - reserved.tool_calls,
            limit.passes - used.passes - reserved.passes,
        )

    def reserve(self, amounts: Amounts) -> "BudgetLedger":
        """Sets amounts aside. ValueError when a dimension has not that much left."""
        over = amounts.exceeding(self.left)
        if over:
            raise ValueError(
                f"the budget's {over} has {getattr(self.left, over)} left, not {getattr(amounts, over)}"
            )
        return BudgetLedger(self.limit, self.used, self.reserved + amounts)

    def share(self, elapsed_seconds: float) -> Budget:
        """What a child run may get at most: half of what is left, all of the time, one level less."""
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
        """The same use under another limit. ValueError when that is above the bound or below what is used
        and reserved."""
        over = limit.amounts.exceeding(bound.amounts)
        if over:
            raise ValueError(f"the budget's {over} is above the run's bound")
        if (limit.wall_seconds, limit.depth) != (bound.wall_seconds, bound.depth):
            raise ValueError("a run's wall_seconds and depth are those that it was created with")
        short = (self.used + self.reserved).exceeding(limit.amounts)
        if short:
            raise ValueError(f"the budget's {short} is below what is used and reserved")
        return BudgetLedger(limit, self.used, self.reserved)

    def settle(self, reservation: Amounts, used: Amounts) -> "BudgetLedger":
        """Turns a reservation into what was really used. ValueError when more was used than reserved."""
        over = used.exceeding(reservation)
        if over:
            raise ValueError(
                f"more {over} used ({getattr(used, over)}) than reserved ({getattr(reservation, over)})"
            )
        return BudgetLedger(self.limit, self.used + used, self.reserved - reservation)


@frozen
class ModelUse:
    """What models did for an operation. `cached_tokens` is the part of the prompts that was read before,
    `first_token_seconds` how long the first answer took to begin, `engine_seconds` how long all took."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    first_token_seconds: float = 0.0
    engine_seconds: float = 0.0

    def __add__(self, other: "ModelUse") -> "ModelUse":
        return ModelUse(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.first_token_seconds or other.first_token_seconds,
            self.engine_seconds + other.engine_seconds,
        )


class Grant:
    """A reservation in use: the one mutable counter, owned by the operation it was reserved for, and what models
    did within it.

    `take` before each use; it refuses instead of overshooting, so that `used` never exceeds the
    reservation whatever a model does.
    """

    __slots__ = ("model_use", "reservation", "used")

    def __init__(self, reservation: Amounts) -> None:
        self.reservation = reservation
        self.used = Amounts()
        self.model_use: ModelUse | None = None

    def note(self, use: ModelUse) -> None:
        """Adds what a model did; bounds nothing."""
        self.model_use = use if self.model_use is None else self.model_use + use

    @property
    def left(self) -> Amounts:
        return self.reservation - self.used

    def take(self, amounts: Amounts) -> bool:
        """Counts the amounts as used if they fit, and says whether they did."""
        if amounts.exceeding(self.left):
            return False
        self.used = self.used + amounts
        return True

    def give_back(self, amounts: Amounts) -> None:
        """Returns what was taken and then not needed (the tokens that an answer did not fill)."""
        if amounts.exceeding(self.used):
            raise ValueError("more given back than was taken")
        self.used = self.used - amounts


@frozen
class BudgetRequest:
    """The bounds a client asks for; None leaves a bound to the daemon."""

    ttl: int | None = None
    llm_calls: int | None = None
    tokens: int | None = None
    tool_calls: int | None = None
    passes: int | None = None
    wall_seconds: float | None = None
    depth: int | None = None

    def within(self, limit: Budget, default: Budget) -> Budget:
        """What was asked for, the default where nothing was, and nowhere more than the limit."""
        chosen = {}
        for dimension in fields(Budget):
            asked = getattr(self, dimension.name)
            wanted = getattr(default, dimension.name) if asked is None else asked
            chosen[dimension.name] = min(wanted, getattr(limit, dimension.name))
        return Budget(**chosen)
