"""Answers the conformance kit's calls: a JSON object a line, in and out (tests/conformance/README.md)."""

import json
import os
import sys
from typing import Any, Optional

from wasmtime import WasmtimeError

from gate import Permission
from guard import Guard, GuardError, Session

METHODS = {
    "configure": ["user", "project"],
    "observe": ["circumstances"],
    "update": ["delta"],
    "begin": ["phase", "model", "now"],
    "finish": ["verdicts", "elapsed-ms", "timed-out"],
    "request": ["model", "shape", "now"],
    "response": ["model", "usage"],
    "recall": ["request"],
    "status": [],
    "report": ["topic"],
}


def conform(guard: Guard) -> None:
    session: Optional[Session] = None
    for line in sys.stdin:
        call = json.loads(line)
        answer: dict[str, Any]
        try:
            name = call["call"]
            if name == "session.new":
                session = guard.instance().session()
                answer = {"ok": None}
            else:
                answer = {"ok": _made(guard, session, name, call["args"])}
        except GuardError as error:
            answer = {"err": error.value}
        except NotImplementedError as error:
            answer = {"unsupported": str(error)}
        except (WasmtimeError, LookupError, TypeError, ValueError) as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps({"id": call["id"], **answer}), flush=True)


def _made(guard: Guard, session: Optional[Session], name: str, args: dict) -> Any:
    if name == "classifier.ask":
        origin = os.environ.get("CONFORMANCE_ORIGIN")
        instance = guard.instance(Permission(origin, "/") if origin else None)
        return instance.ask(args["service"], args["questions"], args["budget"])
    method = name.removeprefix("session.")
    if method not in METHODS:
        raise NotImplementedError(f"there is no {name}")
    if session is None:
        raise ValueError("session.new comes first")
    return session.call(method, *(args[parameter] for parameter in METHODS[method]))
