"""The service: the commands of `study/` over HTTP, for people and programs elsewhere. It adds no logic of its own.

    request ──▶ guard.py ──▶ api.py (programs) ──▶ home.py ──▶ Study with a Desk ──▶ study/commands.py ──▶ store
                │ Host, Origin, sizes, headers,    the studies that are served; learners stay in memory between requests
                │ who is it? (access.py)
                ├──▶ inbox.py (mediators: their own queries, nothing else)
                └──▶ views.py, letters.py (pages: what people look at, with the blocks of pages/)

A program carries a token in its Authorization header, a browser in a cookie: routes under /api take the first only, pages the
second only. What is refused is an exception of `errors.py`, which `refusals.py` turns into a status and one sentence.
"""
