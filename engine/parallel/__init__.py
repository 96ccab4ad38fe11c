"""The distributed formulation of parallel robots (Khan 2002): nodes, the messages between them, and what carries them.

part       each leg with its share of the platform as a robot of its own
node       the steps of a node
steps      the central task's, and the plan of messages
engines    on which nodes run: this process, its threads
cluster    workers of a Dask cluster
conduct    samples and rates by legs
full       the penalty and projection methods fully distributed
"""

from ..door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .cluster import CLUSTER_PATIENCE, Cluster
    from .conduct import MOST_SAMPLES_OF_MESSAGE, DistributedFormulation, RatesByLegs, refuse_given_motions_of_legs
    from .engines import (
        CountingEngine,
        NodeEngine,
        ProcessEngine,
        ThreadsEngine,
        TimedProcessEngine,
        echo_message_of_node,
    )
    from .full import FullyDistributed
    from .steps import Exchange, message_plan
else:
    __getattr__ = door(__name__)
