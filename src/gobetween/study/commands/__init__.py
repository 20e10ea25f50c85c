"""What people do: `verbs` has each verb once (`verb`: what that is), `study_verbs` those about the study itself; their work is
in `commands`, about queries, or in `lifecycle`, about the study; `command_queue` lets many wait without a thread each;
`answer_file` reads CSV files.
"""
