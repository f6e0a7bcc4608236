"""The interfaces of WASI that the guest imports, by hand: a clock, and HTTP that goes through the gate.

The package's own `add_wasi_http` asks nobody where a request goes and adds no credential. Only what the guest calls is here.
Values are as the package wants them: a `Variant` where the cases could not be told apart otherwise, and else the bare value.
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from wasmtime.component import Linker, ResourceHost, ResourceType, Variant

from exchange import Exchange
from gate import Permission

ROOM = 64 * 1024
"""How much of a body is taken at once."""

RESOURCES = {
    "wasi:io/poll": ["pollable"],
    "wasi:io/error": ["error"],
    "wasi:io/streams": ["input-stream", "output-stream"],
    "wasi:http/types": [
        "fields", "outgoing-request", "request-options", "outgoing-body", "future-incoming-response", "incoming-response",
        "incoming-body",
    ],
}
NUMBERS = {name: number for number, name in enumerate(name for names in RESOURCES.values() for name in names)}


@dataclass
class Pollable:
    is_ready: Callable[[], bool]
    at: Optional[int] = None
    """In nanoseconds of the monotonic clock, for a timer."""


@dataclass
class Request:
    headers: list[tuple[str, bytes]]
    method: str = "GET"
    scheme: str = "https"
    authority: str = ""
    path: str = "/"
    body: bytearray = field(default_factory=bytearray)
    exchange: Optional[Exchange] = None
    added: dict[str, str] = field(default_factory=dict)

    def send(self) -> None:
        if self.exchange is not None:
            named = {name: value.decode("latin-1") for name, value in self.headers}
            self.exchange.start(self.method, self.path, {**named, **self.added}, bytes(self.body))


@dataclass
class Timeouts:
    connect: Optional[int] = None


class Wasi:
    """The imports of one instance."""

    def __init__(self, permission: Optional[Permission]) -> None:
        self.permission = permission
        self.changed = threading.Condition()
        self.table: dict[int, Any] = {}
        self.last = 0

    def add_to(self, linker: Linker) -> None:
        functions: dict[str, dict[str, Callable[..., Any]]] = {
            "wasi:io/poll": {"poll": self.poll},
            "wasi:io/error": {},
            "wasi:clocks/monotonic-clock": {
                "now": lambda store: time.monotonic_ns(),
                "subscribe-instant": lambda store, at: self.pollable(lambda: time.monotonic_ns() >= at, at),
            },
            "wasi:io/streams": {
                "[method]input-stream.read": self.method(self.read),
                "[method]input-stream.subscribe": self.method(lambda stream: self.pollable(lambda: True)),
                "[method]output-stream.check-write": self.method(lambda stream: ROOM),
                "[method]output-stream.write": self.method(self.write),
                "[method]output-stream.flush": self.method(lambda stream: Variant("ok")),
                "[method]output-stream.subscribe": self.method(lambda stream: self.pollable(lambda: True)),
            },
            "wasi:http/types": {
                "[constructor]fields": lambda store: self.new("fields", []),
                "[method]fields.get": self.method(lambda fields, name: [v for n, v in fields if n == name.lower()]),
                "[method]fields.append": self.method(self.append),
                "[constructor]outgoing-request": lambda store, fields: self.new("outgoing-request", Request(self.take(store, fields))),
                "[method]outgoing-request.set-method": self.setter("method", lambda method: method.tag.upper()),
                "[method]outgoing-request.set-scheme": self.setter("scheme", lambda scheme: scheme.tag.lower() if scheme else "https"),
                "[method]outgoing-request.set-authority": self.setter("authority", lambda text: text or ""),
                "[method]outgoing-request.set-path-with-query": self.setter("path", lambda text: text or "/"),
                "[method]outgoing-request.body": self.method(lambda request: self.new("outgoing-body", request)),
                "[method]outgoing-body.write": self.method(lambda request: self.new("output-stream", request)),
                "[static]outgoing-body.finish": self.finish,
                "[constructor]request-options": lambda store: self.new("request-options", Timeouts()),
                "[method]request-options.set-connect-timeout": self.setter("connect", lambda duration: duration),
                # The connection has one timeout for all it does.
                "[method]request-options.set-first-byte-timeout": self.method(lambda options, duration: Variant("err")),
                "[method]request-options.set-between-bytes-timeout": self.method(lambda options, duration: Variant("err")),
                "[method]future-incoming-response.subscribe": self.method(lambda exchange: self.pollable(lambda: exchange.done)),
                "[method]future-incoming-response.get": self.method(self.response),
                "[method]incoming-response.status": self.method(lambda exchange: exchange.status),
                "[method]incoming-response.headers": self.method(lambda exchange: self.new("fields", exchange.headers)),
                "[method]incoming-response.consume": self.method(lambda exchange: self.new("incoming-body", exchange)),
                "[method]incoming-body.stream": self.method(lambda exchange: self.new("input-stream", exchange)),
                "http-error-code": self.method(lambda error: None),
            },
            "wasi:http/outgoing-handler": {"handle": self.handle},
        }
        with linker.root() as root:
            for interface, calls in functions.items():
                with root.add_instance(f"{interface}@0.2.12") as instance:
                    for name in RESOURCES.get(interface, []):
                        instance.add_resource(name, ResourceType.host(NUMBERS[name]), self.drop)
                    for name, call in calls.items():
                        instance.add_func(name, call)

    # The table of resources: what the guest holds is a number here.

    def new(self, kind: str, value: Any) -> ResourceHost:
        self.last += 1
        self.table[self.last] = value
        return ResourceHost.own(self.last, NUMBERS[kind])

    def get(self, store: Any, resource: Any) -> Any:
        # This also gives a borrow back: a call that keeps one traps.
        return self.table[resource.to_host(store).rep]

    def take(self, store: Any, resource: Any) -> Any:
        return self.table.pop(resource.to_host(store).rep)

    def method(self, call: Callable[..., Any]) -> Callable[..., Any]:
        return lambda store, resource, *arguments: call(self.get(store, resource), *arguments)

    def drop(self, store: Any, number: int) -> None:
        value = self.table.pop(number, None)
        # The guest lets go of a future whose answer it has, or wants no more.
        if isinstance(value, Exchange):
            value.abort()

    def setter(self, name: str, read: Callable[[Any], Any]) -> Callable[..., Variant]:
        def call(target: Any, value: Any) -> Variant:
            setattr(target, name, read(value))
            return Variant("ok")

        return self.method(call)

    # Waiting.

    def pollable(self, is_ready: Callable[[], bool], at: Optional[int] = None) -> ResourceHost:
        return self.new("pollable", Pollable(is_ready, at))

    def poll(self, store: Any, resources: list[Any]) -> list[int]:
        pollables: list[Pollable] = [self.get(store, resource) for resource in resources]
        alarm = min((pollable.at for pollable in pollables if pollable.at is not None), default=None)
        with self.changed:
            while True:
                ready = [index for index, pollable in enumerate(pollables) if pollable.is_ready()]
                if ready:
                    return ready
                self.changed.wait(None if alarm is None else max(0, alarm - time.monotonic_ns()) / 1e9)

    # Requests.

    def append(self, fields: list[tuple[str, bytes]], name: str, value: bytes) -> Optional[Variant]:
        # A guest may set no credential: what it could know would not be secret. Nor what the connection sets by itself.
        if name.lower() in ("authorization", "host", "connection", "transfer-encoding"):
            return Variant("forbidden")
        if any(byte in b"\r\n\0" for byte in value):
            return Variant("invalid-syntax")
        fields.append((name.lower(), value))
        return None

    def write(self, request: Request, content: bytes) -> Variant:
        request.body += content
        return Variant("ok")

    def finish(self, store: Any, body: Any, trailers: Any) -> Optional[Variant]:
        self.take(store, body).send()
        return None

    def handle(self, store: Any, handle: Any, options: Any) -> Any:
        request: Request = self.take(store, handle)
        timeouts: Timeouts = self.take(store, options) if options else Timeouts()
        if self.permission is None or not self.permission.allows(request.scheme, request.authority):
            return Variant("HTTP-request-denied")
        request.added = self.permission.credential(request.path)
        timeout = (timeouts.connect or 60_000_000_000) / 1e9
        request.exchange = Exchange(self.changed, request.scheme, request.authority, timeout)
        return self.new("future-incoming-response", request.exchange)

    # Responses. They are whole before the guest sees them.

    def response(self, exchange: Exchange) -> Variant:
        if not exchange.done:
            return Variant("none")
        if exchange.error is not None:
            return Variant("some", Variant(exchange.error))
        return Variant("some", self.new("incoming-response", exchange))

    def read(self, exchange: Exchange, most: int) -> Optional[bytes]:
        content, exchange.content = exchange.content[:most], exchange.content[most:]
        # Nothing more: closed.
        return content or None
