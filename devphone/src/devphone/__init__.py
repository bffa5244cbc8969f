"""The dev phone: Twilio's REST and webhook protocols on one machine, and the phone that rings.

`engine` decides, `driver` does, `web` speaks HTTP, `testing` is the client for tests and demos.
Nothing here knows the service under test.
"""

__version__ = "0.1.0"
