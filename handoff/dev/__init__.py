"""All that one machine needs to run Handoff for work, for scripts and for tests, without any account.

An own Redis, the dev phone, web, worker and clock, watched by one supervisor. Nothing here is part of the
service: the product never imports this package, only its command line does.
"""
