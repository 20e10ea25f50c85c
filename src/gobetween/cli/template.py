"""The study file that `gobetween init` writes: working, with comments."""

TEMPLATE = """# A live study: which option is best, when only these mediators can act. `gobetween ask` says whom to ask next,
# `gobetween tell` records an answer, `gobetween status` shows the answer so far. This file may be changed freely until
# the first query; afterwards only title, contacts, lease, in_flight and budget.
title = "Which reminder works best?"

# rewards: "bernoulli" (0 or 1), "poisson", "exponential", {{ name = "gaussian", sigma = 1.0 }} (or "unknown"),
# {{ name = "gamma", shape = 2.0 }}, {{ name = "binomial", n = 10 }}, "geometric", {{ name = "negative-binomial", r = 2.0 }},
# or {{ name = "bounded", low = 0, high = 5 }} for anything in between
family = "bernoulli"

# how often the answer may be wrong
delta = 0.05

# a query that is not answered in this time is issued again ("30m", "12h", "3d"); the verdict still waits for
# its answer. With wait_for = "lease" it does not, and holds on condition that lateness has nothing to do with rewards.
lease = "3d"

# keep that many queries open at once: each answer brings the next query
# in_flight = 2

# stop in any case after that many queries, or that much cost
# budget = {{ queries = 500, cost = 2000.0 }}
{store}
# The options. `mean` is a guess that only `gobetween plan` and `gobetween simulate` use.
[[arms]]
name = "letter"
mean = 0.62

[[arms]]
name = "text message"
mean = 0.74

# Who can act. `policy`: how often they choose each option, if you know it (leave it out if not); `cost` of a query; `contact`.
[[mediators]]
name = "North"
policy = {{ "letter" = 0.8, "text message" = 0.2 }}
cost = 4.0
contact = "north@example.org"

[[mediators]]
name = "South"
policy = {{ "letter" = 0.3, "text message" = 0.7 }}
cost = 6.0
"""
