"""What the two hosts have in common: the session that they show, and how they show it."""

import json
import os
from typing import Any, Optional
from urllib.parse import urlsplit

from gate import Permission

MODEL = {
    "name": "anthropic/claude",
    "cache": "anthropic",
    "prices": {"input": 3.0, "output": 15.0, "cache-read": 0.3, "cache-write": 3.75},
    "cache-lifetime": 300,
    "thinking": "unbound",
}


def service() -> dict:
    base_url = os.environ.get("GUARD_SERVICE")
    if base_url is None:
        return {"api": "builtin", "base-url": "", "model": "lexical", "headers": [], "input-price": 0.0}
    return {"api": "typesafe-system-one", "base-url": base_url, "model": "jev", "headers": [], "input-price": 0.0}


def permission() -> Optional[Permission]:
    origin = os.environ.get("GUARD_ALLOW")
    if origin is None:
        return None
    return Permission(origin, urlsplit(service()["base-url"]).path, os.environ.get("GUARD_KEY"))


def settings() -> dict:
    return {"model": "own/jev" if "GUARD_SERVICE" in os.environ else "builtin/lexical"}


def circumstances() -> dict:
    address = urlsplit(service()["base-url"])
    destination = f"{address.scheme}://{address.netloc}" if address.netloc else None
    return {"problem": None, "destination": destination, "recall-active": True, "working-directory": os.getcwd()}


def size(messages: list) -> str:
    return f"{len(messages)} messages, {len(text(messages))} characters"


def text(value: Any, indent: Optional[int] = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":"))


def changes(before: list, after: list, edits: list) -> None:
    print(f"before: {size(before)}")
    print(f"after: {size(after)}")
    for edit in edits:
        message = after[int(edit["target"][1:].split(".")[0])]
        print(f"\n{edit['target']}: {text(message, 2)}")


def recalled(target: str, parts: list) -> None:
    print(f"\nrecall {target}:")
    for part in parts:
        print(part["val"] if part["tag"] == "text" else f"(the image in block {part['val'][1]} of {part['val'][0]})")
