"""Sessions: conversations and their messages, kept for as long as the user wants them."""
