"""The one room that speaks English: rooms below return facts, this one makes sentences of them, for terminal, pages, JSON,
mails and service alike. `numbers` and `fixes` first, then a file for each subject: `alarms`, `verdict`, `study`, `events`,
`messages`, `logs`.
"""
