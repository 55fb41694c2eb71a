"""Tokens: the permission to change a study, to watch it, or to judge.

A token stands in the printed address. The browser sends it once and gets a cookie, another text that is made from the
token. So a person who reads cookies on a shared screen has no token, and a server that is started again with the same
token file still accepts the cookies.
"""

import hashlib
import hmac
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Role = Literal["operator", "watcher", "judge"]
"""The permission of a person: everything, looking, or judging pairs on a page that shows nothing else."""

TOKEN_BYTES = 24
FEWEST_CHARACTERS = 16
"""Minimum number of characters in a token that the user chooses."""


@dataclass(frozen=True)
class Tokens:
    """The tokens of a server; that of judges is made from the operator's.

    Attributes:
        operator: The token of a person who may change the study.
        watcher: The token of a person who may look.

    Example:
        >>> tokens = Tokens.fresh()
        >>> tokens.role(tokens.watcher), tokens.role("guessed"), tokens.role_of_cookie(tokens.cookie("operator"))
        ('watcher', None, 'operator')
    """

    operator: str
    watcher: str

    def __post_init__(self) -> None:
        for name in ("operator", "watcher"):
            token = getattr(self, name)
            if re.fullmatch(rf"[\w-]{{{FEWEST_CHARACTERS},200}}", token, re.ASCII) is None:
                rule = f"at least {FEWEST_CHARACTERS} letters, digits, _ or -"
                raise ValueError(f"`{name}` must be {rule}, got {len(token)} characters")
        if self.operator == self.watcher:
            raise ValueError("`watcher` must be another token than `operator`")

    @property
    def judge(self) -> str:
        """The token of a person who may judge, and nothing else."""
        return hmac.new(self.operator.encode(), b"equipoise judge", hashlib.sha256).hexdigest()

    @classmethod
    def fresh(cls) -> "Tokens":
        """Return two new tokens."""
        return cls(secrets.token_urlsafe(TOKEN_BYTES), secrets.token_urlsafe(TOKEN_BYTES))

    @classmethod
    def kept(cls, path: Path) -> "Tokens":
        """Return the tokens in a file, one per line; if the file is missing, create it, readable by its owner only."""
        if not path.exists():
            new = cls.fresh()
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
                file.write(f"{new.operator}\n{new.watcher}\n")
        lines = path.read_text(encoding="ascii").split()
        if len(lines) != 2:
            raise ValueError(f"{path} must hold two tokens, one per line, got {len(lines)}")
        return cls(*lines)

    def role(self, token: str) -> Role | None:
        """Return the role that a token grants."""
        return self._role({role: getattr(self, role) for role in get_args(Role)}, token)

    def cookie(self, role: Role) -> str:
        """Return the cookie for a role."""
        return hmac.new(getattr(self, role).encode(), b"equipoise cookie", hashlib.sha256).hexdigest()

    def role_of_cookie(self, cookie: str) -> Role | None:
        """Return the role that a cookie grants."""
        return self._role({role: self.cookie(role) for role in get_args(Role)}, cookie)

    @staticmethod
    def _role(known: dict[Role, str], given: str) -> Role | None:
        """Compare with every secret, each in a time that does not depend on the input."""
        text = given.encode(errors="surrogatepass")
        same = {role: hmac.compare_digest(secret.encode(), text) for role, secret in known.items()}
        return next((role for role, equal in same.items() if equal), None)
