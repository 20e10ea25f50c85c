"""What has happened: kinds of `events`, the `state` that they make, one command's `transaction`, what it answers (`receipts`),
and the `record` that a store keeps, with a `snapshot` of the state.
"""
