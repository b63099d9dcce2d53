"""The audit: does anything on the surface of an item give its answer away?"""
