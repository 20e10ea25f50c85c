"""The paper's two experiments: its printed numbers (`tables`), ours beside them (`reproduction`), one run closely (`trace`)."""
