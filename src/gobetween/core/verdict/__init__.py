"""What the counted answers say: `evidence_report` for the leader and each arm, with the alarms about them;
`missing_answers` if all of these were at their worst.
"""
