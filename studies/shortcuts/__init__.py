"""Trained on items with a shortcut, a network learns the shortcut; on audited ones it reasons."""
