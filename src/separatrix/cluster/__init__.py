"""The same fits, proofs and predictions on files in partitions: on a Ray cluster, or in this process."""

from separatrix.cluster.cluster_fit import fit as fit
from separatrix.cluster.cluster_fit import path as path
from separatrix.cluster.fit_from_disk import fit_source as fit_source
from separatrix.cluster.partition_functions import PartialGradient as PartialGradient
from separatrix.cluster.partition_functions import merge as merge
from separatrix.cluster.partition_functions import partial_gradient as partial_gradient
from separatrix.cluster.partition_functions import price as price
from separatrix.cluster.predictions import SourceEvaluation as SourceEvaluation
from separatrix.cluster.predictions import evaluate as evaluate
from separatrix.cluster.predictions import predict as predict
from separatrix.cluster.ray_rounds import RayExecutor as RayExecutor
from separatrix.cluster.separation import SourceSeparability as SourceSeparability
from separatrix.cluster.source_proofs import mistake_bound as mistake_bound
from separatrix.cluster.source_proofs import separability as separability
from separatrix.data.reading_plan import Reading as Reading
from separatrix.features.encoder import Choices as Choices
from separatrix.numerics.moments import partial_moments as partial_moments
