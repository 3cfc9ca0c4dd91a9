"""The journal: events on disk before they are acted on, read back as they were."""
