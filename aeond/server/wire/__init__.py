"""The only place where domain data and wire messages meet: translations and checks of form."""
