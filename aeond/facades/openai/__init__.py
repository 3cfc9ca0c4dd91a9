"""The daemon by the API of OpenAI: its models, and whole runs as the model `aeond`.

Entry point: `application.openai_app`, an ASGI application.
Must not know the daemon: it is a client of the API, like every façade.
"""
