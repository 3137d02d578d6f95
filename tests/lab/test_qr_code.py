"""The QR code of the lab is the one that another encoder gives."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess

import pytest

from separatrix.lab.static_files import STATIC

# SHA-256 of the modules, row by row as "0" and "1", of text(length), by the package qrcode 8: bytes, level L, the mask
# that ours has chosen: qrcode.QRCode(error_correction=1, border=0, mask_pattern=mask), QRData(text, mode=4).
DIGESTS = {
    3: "a2700ab3bf90a2ce",
    60: "ace05779b6cccf18",
    230: "ccefee6dbdce7be7",
    300: "ff98e5e5e2bd31c3",
    900: "9515574c190788eb",
    2953: "4dab64878f0cd71f",
}

SCRIPT = """
const { qrCode } = await import(process.argv[1]);
const text = (length) => Array.from({ length }, (_, k) => String.fromCharCode(33 + ((k * 7 + length) % 90))).join("");
const code = (length) => qrCode(text(length))?.map((row) => row.map(Number).join("")).join("") ?? null;
console.log(JSON.stringify(JSON.parse(process.argv[2]).map(code)));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_codes_of_every_kind_of_version():
    lengths = [*DIGESTS, 2954]
    command = ["node", "--input-type=module", "-e", SCRIPT, str(STATIC / "qr.js"), json.dumps(lengths)]
    codes = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)
    assert codes.pop() is None  # one byte more than version 40 holds
    for length, code in zip(DIGESTS, codes, strict=True):
        assert hashlib.sha256(code.encode()).hexdigest()[:16] == DIGESTS[length], length
