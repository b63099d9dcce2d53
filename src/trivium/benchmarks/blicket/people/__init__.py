"""The drawn game of the web experiment, which plugs into `trivium.people`."""
