"""The version of the distribution `human-sdk`, read by the build and sent as part of the User-Agent.

Nothing else lives here, so that the build can read it without importing anything.
"""

__version__ = "0.1.0"
