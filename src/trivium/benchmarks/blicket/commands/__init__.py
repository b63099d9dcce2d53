"""Commands about blickets, which plug into `trivium.commands`."""
