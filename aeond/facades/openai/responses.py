"""The form of responses: one object, or named events. Steps of a run are reasoning items."""

import json
from collections.abc import Generator, Iterator
from typing import Any

from aeond.facades.openai import parts
from aeond.facades.openai.requests import ResponsesRequest


class ResponsesForm:
    """Makes a response of parts."""

    def __init__(self, request: ResponsesRequest) -> None:
        self._request = request
        self._name = ""
        self._created = 0
        self._items: list[dict[str, Any]] = []
        self._steps: dict[str, int] = {}
        self._message: int | None = None
        self._count = 0

    def add(self, part: parts.Part) -> Iterator[str]:
        """The server-sent events for this part."""
        match part:
            case parts.Started(name=name, created=created):
                self._name, self._created = name, created
                yield self._event("response.created", response=self._response("in_progress"))
                yield self._event("response.in_progress", response=self._response("in_progress"))
            case parts.StepBegan(key=key, text=text):
                yield from self._begin_step(key, text)
            case parts.StepDone(key=key, text=text):
                yield from self._end_step(key, text)
            case parts.Text(text=text):
                yield from self._say(text)
            case parts.FunctionCall():
                yield from self._call(part)
            case parts.Ended(finish=finish):
                if finish != "tool_calls":
                    yield from self._say("")  # an answer without words is a message, too
                yield from self._close()
                response = self.whole(part)
                yield self._event(f"response.{response['status']}", response=response)
            case parts.Failed(error=error, usage=usage):
                yield from self._close()
                response = self._response("failed", usage)
                response["error"] = {"code": error.code, "message": error.message}
                yield self._event("response.failed", response=response)

    def whole(self, end: parts.Ended) -> dict[str, Any]:
        """The response, once all parts were added."""
        cut = end.finish == "length"
        response = self._response("incomplete" if cut else "completed", end.usage)
        if cut:
            response["incomplete_details"] = {"reason": "max_output_tokens"}
        return response

    # ------------------------------------------------------------ items

    def _begin_step(self, key: str, text: str) -> Iterator[str]:
        if key in self._steps:  # a step that is started again is one item
            index = self._steps[key]
        else:
            item = {
                "id": f"rs_{self._name}_{len(self._items)}",
                "type": "reasoning",
                "status": "in_progress",
                "summary": [],
            }
            index = self._steps[key] = yield from self._open(item)
        yield from self._think(index, text)

    def _end_step(self, key: str, text: str) -> Iterator[str]:
        if key not in self._steps:
            yield from self._begin_step(key, text)
        else:
            yield from self._think(self._steps[key], text)
        yield from self._end(self._steps.pop(key))

    def _think(self, index: int, text: str) -> Iterator[str]:
        """A part of a reasoning item's summary, as a whole."""
        item = self._items[index]
        where = {"item_id": item["id"], "output_index": index, "summary_index": len(item["summary"])}
        whole = {"type": "summary_text", "text": text}
        item["summary"].append(whole)
        empty = {"type": "summary_text", "text": ""}
        yield self._event("response.reasoning_summary_part.added", **where, part=empty)
        yield self._event("response.reasoning_summary_text.delta", **where, delta=text)
        yield self._event("response.reasoning_summary_text.done", **where, text=text)
        yield self._event("response.reasoning_summary_part.done", **where, part=whole)

    def _say(self, text: str) -> Iterator[str]:
        if self._message is None:
            item = {
                "id": f"msg_{self._name}",
                "type": "message",
                "role": "assistant",
                "status": "in_progress",
                "content": [],
            }
            self._message = yield from self._open(item)
            self._items[self._message]["content"].append(_output_text(""))
            yield self._event("response.content_part.added", **self._place_of_text(), part=_output_text(""))
        if text:
            self._items[self._message]["content"][0]["text"] += text
            yield self._event("response.output_text.delta", **self._place_of_text(), delta=text, logprobs=[])

    def _call(self, call: parts.FunctionCall) -> Iterator[str]:
        item = {
            "id": f"fc_{self._name}_{len(self._items)}",
            "type": "function_call",
            "status": "in_progress",
            "call_id": call.call_id,
            "name": call.name,
            "arguments": "",
        }
        index = yield from self._open(item)
        where = {"item_id": item["id"], "output_index": index}
        yield self._event("response.function_call_arguments.delta", **where, delta=call.arguments)
        yield self._event(
            "response.function_call_arguments.done", **where, name=call.name, arguments=call.arguments
        )
        self._items[index]["arguments"] = call.arguments
        yield from self._end(index)

    def _close(self) -> Iterator[str]:
        """Ends the items that are open."""
        for index in self._steps.values():
            yield from self._end(index)
        self._steps.clear()
        if self._message is not None:
            whole = self._items[self._message]["content"][0]
            where = self._place_of_text()
            yield self._event("response.output_text.done", **where, text=whole["text"], logprobs=[])
            yield self._event("response.content_part.done", **where, part=whole)
            yield from self._end(self._message)

    def _open(self, item: dict[str, Any]) -> Generator[str, None, int]:
        """Returns the index of the item."""
        self._items.append(item)
        index = len(self._items) - 1
        yield self._event("response.output_item.added", output_index=index, item=item)
        return index

    def _end(self, index: int) -> Iterator[str]:
        self._items[index]["status"] = "completed"
        yield self._event("response.output_item.done", output_index=index, item=self._items[index])

    def _place_of_text(self) -> dict[str, Any]:
        assert self._message is not None
        return {"item_id": f"msg_{self._name}", "output_index": self._message, "content_index": 0}

    # ------------------------------------------------------------ events

    def _event(self, kind: str, **fields: Any) -> str:
        value = {"type": kind, "sequence_number": self._count, **fields}
        self._count += 1
        return f"event: {kind}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n"

    def _response(self, status: str, usage: parts.Usage | None = None) -> dict[str, Any]:
        given = self._request
        return {
            "id": f"resp_{self._name}",
            "object": "response",
            "created_at": self._created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": given.instructions,
            "max_output_tokens": given.max_output_tokens,
            "metadata": given.metadata or {},
            "model": given.model,
            "output": self._items,
            "parallel_tool_calls": given.parallel_tool_calls is not False,
            "previous_response_id": given.previous_response_id,
            "store": False,
            "temperature": given.temperature,
            "tool_choice": given.tool_choice or "auto",
            "tools": [{"type": "function", **_shown(tool)} for tool in given.tools or []],
            "top_p": None,
            "usage": None if usage is None else usage_of(usage),
        }


def usage_of(usage: parts.Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt + usage.completion,
    }


def _output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _shown(tool: Any) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }
