"""Strategy: takes snapshots, returns outcomes, never raises; knows no kernel and no capability."""
