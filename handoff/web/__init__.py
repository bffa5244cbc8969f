"""The door: the API for agents and operators, and the page for the person. Thin views over the domain."""
