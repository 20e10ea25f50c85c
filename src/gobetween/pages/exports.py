"""Queries as CSV, block by block, however many there are; cells are none that a spreadsheet takes for a formula."""

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from operator import itemgetter

from gobetween.pages.words import csv_safe
from gobetween.study.study import Exported, Study

COLUMNS = tuple(Exported.__annotations__)
BLOCK = 1000


def csv_blocks(study: Study) -> Iterator[tuple[int, str]]:
    """How many rows, and their text; the header comes first, with none."""
    in_order, rows = itemgetter(*COLUMNS), study.export()
    yield 0, f"{','.join(COLUMNS)}\n"
    while block := [[csv_safe(value) for value in in_order(row)] for row in islice(rows, BLOCK)]:
        stream = StringIO()
        csv.writer(stream, lineterminator="\n").writerows(block)
        yield len(block), stream.getvalue()
