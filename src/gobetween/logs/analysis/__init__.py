"""From counts to answers. Read `analysis` first, which makes the `report` from `policies`, `timeline`, `breakdown`, `notes`
and `advice` (with `forecast` and `policy_groups`); `replay` plays a rule on logged rows.
"""
