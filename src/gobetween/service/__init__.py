"""The service: the verbs of `study/` over HTTP, for people and programs elsewhere. It adds no logic of its own.

    request ──▶ guard.py ──▶ api.py (programs) ──▶ studies.py ──▶ a Study with a CommandQueue ──▶ study/commands/ ──▶ store
                │ Host, Origin, sizes, headers,    the studies that are served; learners stay in memory between requests
                │ who is it? (access.py)
                ├──▶ inbox.py (mediators: their own queries, nothing else)
                └──▶ views.py, inbox_page.py (pages: what people look at, with the blocks of pages/)

A program carries a token in its Authorization header, a browser in a cookie: routes under /api take the first only, pages the
second only. What is refused is an exception of `errors.py`, which `errors.py` turns into a status and one sentence.
"""
