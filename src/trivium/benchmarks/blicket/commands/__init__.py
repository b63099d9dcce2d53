"""Commands that are about blickets only: plug-ins of `trivium.commands`."""
