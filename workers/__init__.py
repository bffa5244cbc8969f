"""The hands: RQ appears nowhere else. What is due is remembered by the store, never by RQ."""
