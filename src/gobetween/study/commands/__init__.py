"""What people do: `verbs` has each verb once (`verb`: what that is); its work is in `commands`, about queries, or in
`lifecycle`, about the study itself; `command_queue` lets many wait without a thread each; `answer_file` reads CSV files.
"""
