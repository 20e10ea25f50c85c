"""How a study stands. Read `status` first; `missing_answers` never came, `unreachable` arms are those of absent mediators."""
