# Public names of this package, and where they live; read by type checkers and by __init__.py.

from separatrix.numerics.losses import logistic_gradient as logistic_gradient
from separatrix.numerics.losses import loss_of as loss_of
from separatrix.numerics.losses import zero_one as zero_one
from separatrix.numerics.status import Status as Status
