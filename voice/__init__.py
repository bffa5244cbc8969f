"""The phone: everything that is Twilio's is in here, and nothing of it anywhere else."""
