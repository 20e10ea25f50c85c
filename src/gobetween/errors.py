"""What can go wrong, said in one sentence that names the offending item and the fix."""


class GoBetweenError(ValueError):
    """A mistake in what was given; the message is one sentence for the person who gave it."""


class ProblemError(GoBetweenError):
    """A problem, family or argument that makes no sense."""


class SpecError(GoBetweenError):
    """A file that does not say what it should; the message names the file and the key."""


class StudyError(GoBetweenError):
    """Something that a study refuses; nothing has changed."""


class ConflictError(StudyError):
    """What was said before differs from what is said now."""


class LogError(GoBetweenError):
    """A log that cannot be used."""


class StoreError(GoBetweenError):
    """A store that cannot be opened, read or written."""

    passing = False
    """May the same work a moment later?"""


class ResultsError(GoBetweenError):
    """A results file that cannot be used or written; what it holds is untouched."""
