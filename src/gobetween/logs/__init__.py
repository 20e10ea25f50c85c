"""The best arm from what others have already collected.

To read it: options (how a log is read), columns, cells and names (what it may look like), located (which files there are);
sources make tables, through arrow or slowly through rows, tables and filters make batches of them, merging puts these in order;
checks say which of their rows can be used, counts is what these come to; reading does all of that in order, analysis turns it
into a report with remarks and policies, replay asks what another rule would have needed.
"""
