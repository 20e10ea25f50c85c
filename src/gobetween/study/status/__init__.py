"""How a study stands: `status`; `missing_answers`, those that never came, and `reach`, arms that only those away reach."""
