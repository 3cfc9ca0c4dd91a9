"""Models behind the LLMAdapter port: scripted ones, and engines in processes of their own."""
