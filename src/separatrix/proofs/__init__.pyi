# Public names of this package, and where they live; read by type checkers and by __init__.py.

from separatrix.proofs.certificate.certificate import Certificate as Certificate
from separatrix.proofs.fewest_mistakes.bracket import MistakeBracket as MistakeBracket
from separatrix.proofs.margin.margin import Margin as Margin
from separatrix.proofs.margin.novikoff import MistakeBound as MistakeBound
from separatrix.proofs.separability.multiclass import MulticlassSeparability as MulticlassSeparability
from separatrix.proofs.separability.verdict import Separability as Separability
