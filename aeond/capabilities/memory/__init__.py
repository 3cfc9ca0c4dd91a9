"""Memory: small JSON values under text keys, for as long as the user wants them."""
