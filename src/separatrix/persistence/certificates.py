"""The digest of a certificate: a model file says which proof about its data it was made with, and carries none."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from separatrix.errors import ModelFileError


def digest_of_certificate(certificate: Any) -> str:
    """SHA-256 of the text of a certificate, as its file has it."""
    from separatrix.proofs.certificate import Certificate

    if isinstance(certificate, (str, os.PathLike)):
        Certificate.load(Path(certificate))
        return hashlib.sha256(Path(certificate).read_bytes()).hexdigest()
    if not isinstance(certificate, Certificate):
        raise ModelFileError(f"certificate is a {type(certificate).__name__}: pass a Certificate, or a file with one.")
    return hashlib.sha256(f"{certificate.text}\n".encode()).hexdigest()


def digest_of(learner: Any) -> str | None:
    """That of the certificate a learner carries (``certificate_``, ``separation_``), or that its file told of."""
    for name in ("certificate_", "separation_"):
        carried = getattr(learner, name, None)
        if carried is None:
            continue
        from separatrix.proofs.certificate import Certificate  # the proofs take longer to load than a model to save

        proofs = list(carried.values()) if isinstance(carried, dict) else [carried]
        found = [proof if isinstance(proof, Certificate) else getattr(proof, "certificate", None) for proof in proofs]
        whole = [own for own in found if isinstance(own, Certificate)]
        if whole:
            return digest_of_certificate(whole[0] if len(whole) == 1 else Certificate.bundle(whole))
    told: str | None = getattr(learner, "certificate_digest_", None)
    return told
