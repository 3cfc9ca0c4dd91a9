"""The form of chat completions: one object, or chunks."""

import json
from collections.abc import Iterator
from typing import Any

from aeond.facades.openai import parts

LAST = "data: [DONE]\n\n"


class ChatForm:
    """Makes a chat completion of parts. Steps of a run are `reasoning_content`, as several servers have it: chat
    completions have no field of their own for it.
    """

    def __init__(self, model: str, *, wants_usage: bool = False) -> None:
        self._model = model
        self._wants_usage = wants_usage
        self._head: dict[str, Any] = {}
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[parts.FunctionCall] = []

    def add(self, part: parts.Part) -> Iterator[str]:
        """The server-sent events for this part."""
        match part:
            case parts.Started(name=name, created=created):
                self._head = {"id": f"chatcmpl-{name}", "created": created, "model": self._model}
                yield self._delta({"role": "assistant", "content": ""})
            case parts.StepBegan(text=text):
                self._thoughts.append(f"{text} …\n")
                yield self._delta({"reasoning_content": self._thoughts[-1]})
            case parts.StepDone(text=text):
                self._thoughts.append(f"{text}\n")
                yield self._delta({"reasoning_content": self._thoughts[-1]})
            case parts.Text(text=text):
                self._texts.append(text)
                yield self._delta({"content": text})
            case parts.FunctionCall():
                self._calls.append(part)
                yield self._delta({"tool_calls": [{"index": len(self._calls) - 1, **_call(part)}]})
            case parts.Ended(finish=finish, usage=usage):
                yield self._delta({}, finish)
                if self._wants_usage:
                    yield self._chunk(choices=[], usage=usage_of(usage))
                yield LAST
            case parts.Failed(error=error):
                yield _event(error.body)

    def whole(self, end: parts.Ended) -> dict[str, Any]:
        """The completion, once all parts were added."""
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "".join(self._texts) if self._texts or not self._calls else None,
            "refusal": None,
        }
        if self._thoughts:
            message["reasoning_content"] = "".join(self._thoughts)
        if self._calls:
            message["tool_calls"] = [_call(one) for one in self._calls]
        return {
            **self._head,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": end.finish}],
            "usage": usage_of(end.usage),
        }

    def _delta(self, delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._chunk(choices=[choice])

    def _chunk(self, **fields: Any) -> str:
        return _event({**self._head, "object": "chat.completion.chunk", **fields})


def usage_of(usage: parts.Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }


def _call(call: parts.FunctionCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def _event(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"
