"""The paper's two experiments: its printed numbers, ours beside them, one run followed closely."""
