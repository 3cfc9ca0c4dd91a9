"""Model files: the catalogue, the local store and the sources that files are downloaded from.

Entry point: `store.ModelStore` and `catalogue.Catalogue`.
Must not know engines or adapters.
"""
