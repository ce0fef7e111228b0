"""Shows answers to the filters that plugins bring, whole and streamed.

vendor's bytes ──▶ exchange, held back ──▶ a window for each filter ──▶ client's bytes

Without filters nothing of this is on the path of a request.
"""
