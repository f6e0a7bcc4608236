"""Shows the guard at work in a host of its own: a recorded conversation is synced, judged and edited, and a part of what
went is recalled.

    python host.py COMPONENT TRANSCRIPT    a list of messages as Anthropic's Messages API has them, as JSON
    python host.py COMPONENT conform       answers the conformance kit (tests/conformance/README.md)

GUARD_SERVICE   address of a classifier that speaks Jev's protocol; without one the built-in judge answers
GUARD_ALLOW     the origin that requests may go to, scheme://host[:port]; nothing leaves without it
GUARD_KEY       its key, if it wants one
"""

import json
import sys
import time
from typing import Optional

from wasmtime import WasmtimeError

import show
from conform import conform
from guard import Guard, GuardError, Session
from log import Log


def now() -> int:
    return time.time_ns() // 1_000_000


def judged(guard: Guard, session: Session, phase: str) -> Optional[dict]:
    """One pass. Returns what was decided, or nothing where no pass was due."""
    began = now()
    inquiry = session.call("begin", phase, show.MODEL, began)
    if inquiry is None:
        return None
    verdicts: list = []
    try:
        # An instance of its own: it sees the questions alone, and whatever becomes of it, the session stays.
        instance = guard.instance(show.permission())
        verdicts = instance.ask(show.service(), inquiry["questions"], inquiry["budget"])
    except WasmtimeError as error:
        # A question without a verdict counts as failed, and what it asked about stays.
        print(f"the questions were not answered: {error}", file=sys.stderr)
    elapsed = now() - began
    return session.call("finish", verdicts, elapsed, elapsed >= inquiry["budget"]["timeout-ms"])


def opened(guard: Guard) -> tuple[Session, list[str]]:
    session = guard.instance().session()
    configuration = session.call("configure", json.dumps(show.settings()), None)
    session.call("observe", show.circumstances())
    return session, configuration["warnings"]


def sync(session: Session, log: Log) -> None:
    """Tells the guard what is new, or everything where it does not hold what that builds on."""
    try:
        session.call("update", log.delta())
    except GuardError as error:
        if error.value["tag"] != "out-of-sync":
            raise
        log.forget()
        session.call("update", log.delta())


def status(session: Session) -> str:
    return "".join(span["text"] for span in session.call("status"))


def main(component: str, transcript: str) -> None:
    with open(transcript, encoding="utf-8") as file:
        messages = json.load(file)
    log = Log(show.MODEL["name"])
    for message in messages:
        log.append(message, now())
    before = log.render()

    guard = Guard(component)
    session, warnings = opened(guard)
    sync(session, log)

    outcome = judged(guard, session, "run-end") or {"edits": [], "guard-record": None, "warnings": []}
    for warning in warnings + outcome["warnings"]:
        print(f"warning: {warning}")
    log.apply(outcome, now())
    sync(session, log)

    show.changes(before, log.render(), outcome["edits"])
    print(f"\nstatus: {status(session)}")
    # What the model may ask for next: some lines of one output, and another whole.
    for index, edit in enumerate(outcome["edits"]):
        wanted = {"entry-id": edit["target"], "pattern": "locks" if index == 0 else None}
        show.recalled(edit["target"], session.call("recall", wanted))

    # As after a trap: the new instance holds nothing, so the delta does not fit, and it gets the session whole.
    session, _ = opened(guard)
    sync(session, log)
    print(f"\nstatus of a new instance: {status(session)}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case [component, "conform"]:
            conform(Guard(component))
        case [component, transcript]:
            main(component, transcript)
        case _:
            sys.exit("name a component and a transcript, such as tests/hosts/transcript.json, or say conform")
