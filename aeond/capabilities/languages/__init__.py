"""The languages of texts.

Entry point: `spoken_language.SpokenLanguages`, which says in which language a text is.
Must not know whose text it is, or what depends on its language.
"""
