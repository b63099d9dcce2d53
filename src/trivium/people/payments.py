"""What participants are paid, by their names at a recruiting service."""

from __future__ import annotations

from typing import Any

from trivium.people.export import mean_score
from trivium.people.study import Study

COLUMNS = ("name", "study", "session", "code", "stage", "pay", "bonus", "currency")


def payments(study: Study) -> list[dict[str, Any]]:
    """A row for each participant who is to be paid: base pay, and a bonus from the score."""
    pay, contacts = study.experiment.pay, study.store.contacts()
    rows = []
    for participant in study.store.participants():
        session = study.session(participant)
        if session.stage not in ("done", "failed"):
            continue
        contact = contacts.get(participant.id)
        rows.append(
            {
                **(vars(contact) if contact else {}),
                "code": participant.code,
                "stage": session.stage,
                "pay": getattr(pay, session.stage),
                "bonus": round(pay.bonus * (mean_score(session) or 0.0), 2),
                "currency": pay.currency,
            }
        )
    return rows
