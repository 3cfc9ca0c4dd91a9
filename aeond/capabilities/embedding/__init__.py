"""Text embeddings: all-MiniLM-L6-v2 computed with numpy.

Entry point: `minilm_embedder.MiniLmEmbedder`, which is given the paths of two files.
Must not know where the files come from, who asks, or what the vectors are used for.
"""
