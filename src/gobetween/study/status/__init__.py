"""How a study stands: `status`; `missing_answers`, those that never came; `unreachable`, arms of absent mediators."""
