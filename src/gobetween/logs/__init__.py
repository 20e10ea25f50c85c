"""The best arm from what others have already collected.

To read it: options (how a log is read); sources make batches, through arrow or slowly through rows; checks say which of their
rows can be used, counts is what these come to; reading does all of that in order, analysis turns it into a report, replay asks
what another rule would have needed.
"""
