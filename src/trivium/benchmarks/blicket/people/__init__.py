"""The drawn game of the web experiment: a plug-in of `trivium.people`."""
