"""The dev phone's HTTP side: Twilio's REST API, the control API, and the page with the phone on it.

Views only; rules are in `engine`, doing is in `driver`.
"""
