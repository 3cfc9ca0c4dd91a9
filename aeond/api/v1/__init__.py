"""Generated from protos/aeond/api/v1 by `make proto`; never edited."""
