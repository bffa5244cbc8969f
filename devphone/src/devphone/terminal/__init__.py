"""The phone in a terminal: `python -m devphone.terminal`, for those who live there.

A client of the control API, line by line, so that it works over ssh, in pipes and with a screen reader.
`news.py` says what is shown, `deeds.py` what a typed line means, `wire.py` speaks HTTP.
"""
