"""Live use. `learner` asks and is told, without a store; `spec`, `journal`, `store`, `commands`, `status` and `notify` make a
study of it that loses nothing over days, which `study.py` offers and `client.py` reaches by HTTP.
"""
