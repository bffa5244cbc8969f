"""What happens on the line, as pure rules: no sockets, no threads, no clock.

Every public method of `Engine` takes `now`, changes the engine's own records and leaves actions
(see `actions.py`) for the driver to carry out. Nothing in this package imports from outside it,
except for number and date formats.
"""
