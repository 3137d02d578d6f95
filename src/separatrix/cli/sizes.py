"""Sizes on the command line: 256MB, 1.5GiB, 300000000."""

from __future__ import annotations

import re
from typing import Any

import click

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
UNITS |= {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}


class Size(click.ParamType[int]):
    """A number of bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", str(value).lower())
        if found is None:
            self.fail(f"{value!r} is not a size: write 256MB or 4GB, for instance.", param, ctx)
        return int(float(found[1]) * UNITS[found[2] or ""])


SIZE = Size()
