"""Features of requests and answers, in every format that can express them.

For each feature a request in each client dialect that can express it, and for
each vendor dialect a probe that finds it in a vendor's request by plain means.
"""

from features_of_output import FORMS
from features_of_sampling import SAMPLING
from features_of_turns import TURNS
from request_probes import Feature

REQUESTS: tuple[Feature, ...] = (*TURNS, *FORMS, *SAMPLING)
