"""Live use. `learner` asks and is told, without a store; `spec`, `journal`, `store`, `commands`, `status` and `notify` make a
study of it that loses nothing over days, which `study.py` offers and `client.py` reaches by HTTP. `find_study` opens and makes
studies, `server_address` says where one is served, `tokens` who may do what; `delivery` sends messages, `doctor` checks all.
"""
