"""What RQ runs: shallow, repeatable, ids only. What each kind of effect does is performing.py's business."""

from __future__ import annotations

from workers.performing import perform_effect
from workers.worker import current_services


def perform(effect_id: str) -> None:
    """Does one effect, unless it is done or being done."""
    perform_effect(current_services(), effect_id)


def beat(_: str) -> None:
    """Shows that a worker takes jobs and finishes them; /readyz looks at it."""
    services = current_services()
    services.store.beat("worker", services.clock())
