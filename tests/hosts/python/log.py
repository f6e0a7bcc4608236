"""A session as the host keeps it: an append-only log, and the list of messages that the model gets from it.

Messages are those of Anthropic's Messages API; what the guard is told has the conformance kit's form.
"""

import json
from dataclasses import dataclass
from typing import Any, Callable, Optional

IMAGE_HEAD = 65_536
"""Image sizes stand near the start of a file; the contract sends no more than this."""

Block = dict[str, Any]


@dataclass
class Recorded:
    """What an entry holds in the API's form, to make the message from it again."""

    message: int
    role: str
    result: Optional[Block]
    """The tool result that the blocks stand in."""
    blocks: list[Block]
    shown: Optional[list[Block]]
    """The blocks in force; `None` when the entry is omitted."""

    def view(self) -> dict:
        if self.shown is None:
            return {"tag": "omitted"}
        if self.shown is self.blocks:
            return {"tag": "as-recorded"}
        return {"tag": "replaced", "val": [contract_block(block) for block in self.shown]}

    def part(self, part: dict) -> Block:
        if part["tag"] == "text":
            return {"type": "text", "text": part["val"]}
        return self.blocks[part["val"]]


class Log:
    def __init__(self, model: str) -> None:
        self.model = model
        self.entries: list[dict] = []
        self.recorded: dict[str, Recorded] = {}
        self.messages = 0
        self.forget()

    def append(self, message: dict, time: int) -> None:
        """Appends a message. Each tool result becomes an entry of its own, so that each can be edited."""
        number = self.messages
        self.messages += 1
        blocks = block_list(message["content"])
        if message["role"] == "assistant":
            reason = "tool-use" if any(block["type"] == "tool_use" for block in blocks) else "stop"

            def answer(shown: list) -> dict:
                value = {"blocks": shown, "stop-reason": reason, "model": self.model, "usage": None}
                return {"tag": "assistant", "val": value}

            self._add(f"m{number}", time, number, "assistant", None, blocks, answer)
            return
        results = [block for block in blocks if block["type"] == "tool_result"]
        rest = [block for block in blocks if block["type"] != "tool_result"]
        for index, result in enumerate(results):
            call = result["tool_use_id"]

            def output(shown: list) -> dict:
                value = {"call-id": call, "tool-name": self._tool_name(call), "is-error": result.get("is_error") is True, "blocks": shown}
                return {"tag": "tool-result", "val": value}

            self._add(f"m{number}.{index}", time, number, "user", result, block_list(result.get("content", [])), output)
        if rest:
            self._add(f"m{number}", time, number, "user", None, rest, lambda shown: {"tag": "user", "val": shown})

    def delta(self) -> dict:
        """Returns what is new since the last delta, and takes it as told."""
        context = [{"id": name, "view": recorded.view()} for name, recorded in self.recorded.items()]
        pairs = enumerate(zip(self.told_context, context))
        keep = next((index for index, (told, now) in pairs if told != now), min(len(self.told_context), len(context)))
        keep_branch, self.told_branch, self.told_context = self.told_branch, len(self.entries), context
        return {"keep-branch": keep_branch, "branch": self.entries[keep_branch:], "keep-context": keep, "context": context[keep:]}

    def forget(self) -> None:
        """The guard holds nothing any more (a new instance, or `out-of-sync`): the next delta is the whole session."""
        self.told_branch = 0
        self.told_context: list[dict] = []

    def apply(self, outcome: dict, time: int) -> None:
        """Applies all of an outcome or, where an edit cannot be, nothing of it (`KeyError`, `IndexError`)."""
        edits = []
        for edit in outcome["edits"]:
            recorded = self.recorded[edit["target"]]
            parts = edit["replacement"]
            edits.append((edit["target"], recorded, None if parts is None else [recorded.part(part) for part in parts]))
        for target, recorded, shown in edits:
            recorded.shown = shown
            self._note({"tag": "edit", "val": target}, time)
        # Directly after the edits: so the guard knows them as its own.
        if outcome["guard-record"] is not None:
            self._note({"tag": "guard-record", "val": outcome["guard-record"]}, time)

    def render(self) -> list[dict]:
        """The messages as the model gets them now."""
        messages: list[dict] = []
        last = None
        for recorded in self.recorded.values():
            if recorded.shown is None:
                continue
            if recorded.message != last:
                messages.append({"role": recorded.role, "content": []})
            last = recorded.message
            result = recorded.result
            messages[-1]["content"] += recorded.shown if result is None else [{**result, "content": recorded.shown}]
        return messages

    def _add(
        self, name: str, time: int, message: int, role: str, result: Optional[Block], blocks: list[Block],
        body: Callable[[list], dict],
    ) -> None:
        told = body([contract_block(block) for block in blocks])
        self.recorded[name] = Recorded(message, role, result, blocks, blocks)
        self.entries.append({"id": name, "time": time, "body": {"tag": "message", "val": told}})

    def _note(self, body: dict, time: int) -> None:
        self.entries.append({"id": f"n{len(self.entries)}", "time": time, "body": body})

    def _tool_name(self, call: str) -> Optional[str]:
        calls = [block for recorded in self.recorded.values() for block in recorded.blocks if block["type"] == "tool_use"]
        return next((block["name"] for block in reversed(calls) if block["id"] == call), None)


def contract_block(block: Block) -> dict:
    kind = block["type"]
    if kind == "text":
        return {"tag": "text", "val": block["text"]}
    if kind == "thinking":
        value = {"text": block.get("thinking", ""), "signature-length": len(block.get("signature", ""))}
        return {"tag": "thinking", "val": value}
    if kind == "tool_use":
        value = {"id": block["id"], "name": block["name"], "arguments": json.dumps(block["input"])}
        return {"tag": "tool-call", "val": value}
    if kind == "image" and "data" in block["source"]:
        data = block["source"]["data"]
        value = {"media-type": block["source"]["media_type"], "head": data[:IMAGE_HEAD], "base64-length": len(data)}
        return {"tag": "image", "val": value}
    return {"tag": "opaque", "val": len(json.dumps(block))}


def block_list(content: Any) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
