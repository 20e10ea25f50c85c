"""When to stop. Read `stopping_rule` (the contract) and `rules` (ours as values) first; `stopper` has rules at work on the
best arm, `question_stopper` on other questions.
"""
