"""The pages of a study: `page` live and in reports, `report` to keep, `status` in the terminal; `history` over time."""
