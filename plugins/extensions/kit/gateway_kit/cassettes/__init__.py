"""One exchange of a gateway as a file without anything said in it, and as a test.

model-gateway cassette REQUEST_ID ──▶ file ──▶ replay: the same formats, offline
"""
