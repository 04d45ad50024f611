from hypothesis import settings

# a machine that others use may pause for longer than hypothesis allows one example
settings.register_profile("patient", parent=settings.default, deadline=None)
settings.load_profile("patient")
