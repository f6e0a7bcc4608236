"""The same as host.py through the runner's JSON-RPC (docs/PROTOCOL.md): needs nothing but Python's own library.

    python rpc_host.py RUNNER TRANSCRIPT

GUARD_SERVICE, GUARD_ALLOW and GUARD_KEY as in host.py. The runner's gate asks for the permission and adds the key.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any, Optional

import show
from log import Log

ENUMS = {"stop-reason", "cache", "thinking", "phase"}


class RunnerError(Exception):
    """`kind` is `out-of-sync`, `invalid`, … as the protocol lists them."""

    def __init__(self, error: dict) -> None:
        super().__init__(error["message"])
        self.kind = error.get("data", {}).get("kind")


class Runner:
    def __init__(self, path: str, settings: dict, allowed: Optional[str]) -> None:
        self.home = tempfile.TemporaryDirectory()
        # A person's own settings stay out of this: the runner reads them from the agent's folder.
        with open(os.path.join(self.home.name, "context-guard.json"), "w", encoding="utf-8") as file:
            json.dump(settings, file)
        environment = {**os.environ, "PI_CODING_AGENT_DIR": self.home.name, "PI_CONTEXT_GUARD_ALLOW": allowed or ""}
        environment.pop("GUARD_KEY", None)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([path, "serve"], stdin=pipe, stdout=pipe, env=environment, encoding="utf-8")
        self.calls = 0

    def call(self, method: str, params: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        self.calls += 1
        request = {"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            answer = json.loads(line)
            # What has no `id` is a notification (`judging`): a host with a status bar would draw it.
            if answer.get("id") != self.calls:
                continue
            if "error" in answer:
                raise RunnerError(answer["error"])
            return answer["result"]
        raise ConnectionError("the runner is gone")

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()
        self.home.cleanup()


def outward(value: Any, name: str = "") -> Any:
    """The kit's form as the runner has it: `snake_case` fields, and cases in `PascalCase`."""
    if isinstance(value, dict) and "tag" in value:
        case = pascal(value["tag"])
        return {case: outward(value["val"])} if "val" in value else case
    if isinstance(value, dict):
        return {key.replace("-", "_"): outward(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [outward(item) for item in value]
    return pascal(value) if name in ENUMS else value


def pascal(text: str) -> str:
    return "".join(word.capitalize() for word in text.split("-"))


def parts(values: Optional[list]) -> Optional[list]:
    """`[{"Text": …}, {"Recorded": …}]` in the kit's form."""
    return values and [{"tag": case.lower(), "val": inner} for value in values for case, inner in value.items()]


def opened(path: str) -> tuple[Runner, list[str]]:
    runner = Runner(path, show.settings(), os.environ.get("GUARD_ALLOW"))
    warnings = runner.call("configure", {"project": None})["configuration"]["warnings"]
    runner.call("observe", outward(show.circumstances()))
    return runner, warnings


def sync(runner: Runner, log: Log) -> None:
    """Tells the guard what is new, or everything where it does not hold what that builds on."""
    try:
        runner.call("update", outward(log.delta()))
    except RunnerError as error:
        if error.kind != "out-of-sync":
            raise
        log.forget()
        runner.call("update", outward(log.delta()))


def status(runner: Runner) -> str:
    return "".join(span["text"] for span in runner.call("status", {}))


def main(path: str, transcript: str) -> None:
    with open(transcript, encoding="utf-8") as file:
        messages = json.load(file)
    log = Log(show.MODEL["name"])
    for message in messages:
        log.append(message, time.time_ns() // 1_000_000)
    before = log.render()

    runner, warnings = opened(path)
    sync(runner, log)

    key = os.environ.get("GUARD_KEY")
    call = {"delta": None, "phase": "run-end", "model": show.MODEL, "now": time.time_ns() // 1_000_000, "service": show.service()}
    passed = runner.call("pass", {**outward(call), "credential": {"api_key": key, "headers": []} if key else None})
    outcome = passed["outcome"] or {"edits": [], "guard_record": None, "warnings": []}
    edits = [{"target": edit["target"], "replacement": parts(edit["replacement"])} for edit in outcome["edits"]]
    for warning in warnings + ([passed["refusal"]] if passed["refusal"] else outcome["warnings"]):
        print(f"warning: {warning}")
    log.apply({"edits": edits, "guard-record": outcome["guard_record"]}, time.time_ns() // 1_000_000)
    sync(runner, log)

    show.changes(before, log.render(), edits)
    print(f"\nstatus: {status(runner)}")
    for index, edit in enumerate(edits):
        wanted = {"entry_id": edit["target"], "pattern": "locks" if index == 0 else None}
        show.recalled(edit["target"], parts(runner.call("recall", wanted)) or [])
    runner.end()

    # As after a crash: the new runner holds nothing, so the delta does not fit, and it gets the session whole.
    runner, _ = opened(path)
    sync(runner, log)
    print(f"\nstatus of a new instance: {status(runner)}")
    runner.end()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("name a runner and a transcript, such as tests/hosts/transcript.json")
    main(*sys.argv[1:])
