"""The guard's component in a sandbox that holds a clock and the gate's network.

Values go in and come out as the conformance kit has them: a record is a `dict` with the WIT's names, a variant is
`{"tag": …, "val": …}`, an enum a `str`, an option the value or `None`. The contract's own types say how to read them.
"""

from typing import Any, Optional

from wasmtime import Engine, Store
from wasmtime.component import (
    Component, Func, Linker, ListType, OptionType, Record, RecordType, ResultType, TupleType, Variant, VariantType,
)

from gate import Permission
from wasi import Wasi

CONTRACT = "0.1.0"
MEMORY = 512 * 1024 * 1024


class GuardError(Exception):
    """The error of a `result`, as the contract has it."""

    def __init__(self, value: Any) -> None:
        super().__init__(str(value))
        self.value = value


class Guard:
    """Compiles the component once; each instance has its own memory."""

    def __init__(self, path: str) -> None:
        self.engine = Engine()
        self.component = Component.from_file(self.engine, path)

    def instance(self, permission: Optional[Permission] = None) -> "Instance":
        return Instance(self, permission)


class Instance:
    def __init__(self, guard: Guard, permission: Optional[Permission]) -> None:
        linker = Linker(guard.engine)
        Wasi(permission).add_to(linker)
        self.store = Store(guard.engine)
        self.store.set_limits(memory_size=MEMORY)
        self.instance = linker.instantiate(self.store, guard.component)

    def call(self, interface: str, name: str, *arguments: Any) -> Any:
        function = self._function(interface, name)
        kind = function.type(self.store)
        lowered = [lower(ty, value) for (_, ty), value in zip(kind.params, arguments)]
        result = kind.result
        value = function(self.store, *lowered)
        lifted = None if result is None else lift(result, value)
        if isinstance(result, ResultType):
            if lifted["tag"] == "err":
                raise GuardError(lifted["val"])
            return lifted.get("val")
        return lifted

    def session(self) -> "Session":
        return Session(self, self.call("sessions", "[constructor]session"))

    def ask(self, service: dict, questions: list, budget: dict) -> list:
        return self.call("classifier", "ask", service, questions, budget)

    def _function(self, interface: str, name: str) -> Func:
        outer = self.instance.get_export_index(self.store, f"context-guard:guard/{interface}@{CONTRACT}")
        inner = outer and self.instance.get_export_index(self.store, name, outer)
        function = inner and self.instance.get_func(self.store, inner)
        if function is None:
            raise LookupError(f"the component has no {interface}.{name} of version {CONTRACT}; take one of that version")
        return function


class Session:
    """A session of the contract: `call` takes a method's name and its arguments in order."""

    def __init__(self, instance: Instance, handle: Any) -> None:
        self.instance = instance
        self.handle = handle

    def call(self, name: str, *arguments: Any) -> Any:
        return self.instance.call("sessions", f"[method]session.{name}", self.handle, *arguments)


def lower(ty: Any, value: Any) -> Any:
    """Returns the value as the package takes it for that type."""
    if isinstance(ty, RecordType):
        record = Record()
        for name, inner in ty.fields:
            setattr(record, name, lower(inner, value.get(name) if isinstance(inner, OptionType) else value[name]))
        return record
    if isinstance(ty, VariantType):
        inner = dict(ty.cases)[value["tag"]]
        return _case(ty, value["tag"], None if inner is None else lower(inner, value["val"]))
    if isinstance(ty, OptionType):
        return _case(ty, "none", None) if value is None else _case(ty, "some", lower(ty.payload, value))
    if isinstance(ty, ListType):
        return [lower(ty.element, item) for item in value]
    if isinstance(ty, TupleType):
        return tuple(lower(inner, item) for inner, item in zip(ty.elements, value))
    return float(value) if type(ty).__name__ == "F64" else value


def lift(ty: Any, value: Any) -> Any:
    """Returns a value of the package in the kit's form."""
    if isinstance(ty, RecordType):
        return {name: lift(inner, getattr(value, name)) for name, inner in ty.fields}
    if isinstance(ty, (VariantType, ResultType)):
        cases = ty.cases if isinstance(ty, VariantType) else [("ok", ty.ok), ("err", ty.err)]
        tag, content = _told(ty, cases, value)
        inner = dict(cases)[tag]
        return {"tag": tag} if inner is None else {"tag": tag, "val": lift(inner, content)}
    if isinstance(ty, OptionType):
        tag, content = _told(ty, [("none", None), ("some", ty.payload)], value)
        return None if tag == "none" else lift(ty.payload, content)
    if isinstance(ty, (ListType, TupleType)):
        inner = [ty.element] * len(value) if isinstance(ty, ListType) else ty.elements
        return [lift(one, item) for one, item in zip(inner, value)]
    return value


def _case(ty: Any, tag: str, content: Any) -> Any:
    # The package wants bare values where their Python types tell the cases apart, which only its private `_tagged` says.
    return Variant(tag, content) if ty._tagged() else content


def _told(ty: Any, cases: list, value: Any) -> tuple[str, Any]:
    if ty._tagged():
        return value.tag, value.payload
    for tag, inner in cases:
        kinds: set[type] = set()
        if inner is not None:
            inner.add_classes(kinds)
        if value is None if inner is None else isinstance(value, tuple(kinds)):
            return tag, value
    raise TypeError(f"{value!r} is no value of {type(ty).__name__}")
