"""What may leave: one origin, with a credential that the guest never sees."""

import re
from dataclasses import dataclass, field
from typing import Optional


@dataclass(frozen=True)
class Permission:
    """Where requests may go. Without a key nothing is added."""

    origin: str
    """`scheme://host[:port]`, lower case, without a default port."""
    path: str
    """The key goes to addresses under this path, and nowhere else."""
    key: Optional[str] = field(default=None, repr=False)

    def allows(self, scheme: str, authority: str) -> bool:
        return f"{scheme}://{authority}".lower() == self.origin

    def credential(self, path: str) -> dict[str, str]:
        folder = self.path.rstrip("/")
        under = path == folder or path.startswith(f"{folder}/")
        # An encoded or dotted path could leave the folder where the server reads it.
        odd = re.search(r"%|/\.\.?(/|$)", path)
        return {"authorization": f"Bearer {self.key}"} if self.key and under and not odd else {}
